// SPDX-License-Identifier: AGPL-3.0-only

package cluster

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"windtunnel/k6/internal/exit"
)

// patience is how long kubectl waits for one answer of the cluster.
const patience = 20 * time.Second

type kubectl struct {
	namespace string // "" for the namespace of the context
	environ   []string
}

// refused is the last line of a failed kubectl.
type refused string

func (r refused) Error() string { return string(r) }

// command is kubectl with arguments, in a separate process group: this program handles Ctrl-C.
func (k kubectl) command(ctx context.Context, args ...string) *exec.Cmd {
	if k.namespace != "" {
		args = append([]string{"--namespace", k.namespace}, args...)
	}
	cmd := exec.CommandContext(ctx, "kubectl", args...)
	cmd.Env = k.environ
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// run returns the output of kubectl. input is its stdin.
func (k kubectl) run(ctx context.Context, input string, args ...string) ([]byte, error) {
	cmd := k.command(ctx, args...)
	cmd.Stdin = strings.NewReader(input)
	var out, problem bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &problem
	err := kubectlError(cmd.Run(), &problem)
	return out.Bytes(), err
}

// stream passes the output of kubectl to a function.
func (k kubectl) stream(ctx context.Context, read func(io.Reader) error, args ...string) error {
	cmd := k.command(ctx, args...)
	var problem bytes.Buffer
	cmd.Stderr = &problem
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := read(out)
	if err := kubectlError(cmd.Wait(), &problem); err != nil {
		return err
	}
	return readErr
}

// get decodes the output of `kubectl ARGUMENTS -o json`.
func (k kubectl) get(ctx context.Context, into any, args ...string) error {
	ctx, stop := context.WithTimeout(ctx, patience)
	defer stop()
	text, err := k.run(ctx, "", append(args, "--output", "json")...)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// kubectlError replaces kubectl's exit code with the text of its error.
func kubectlError(err error, problem *bytes.Buffer) error {
	var ended *exec.ExitError
	if !errors.As(err, &ended) {
		return err
	}
	last := exit.LastLine(problem.String())
	for _, prefix := range []string{"Error from server ", "error: "} {
		last = strings.TrimPrefix(last, prefix)
	}
	if last == "" {
		return err
	}
	return refused(last)
}

// untar writes the files of an archive below a folder. It writes no links and nothing outside the folder. It skips files
// whose names begin with a dot.
func untar(archive io.Reader, folder string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	defer root.Close()
	files := tar.NewReader(archive)
	for {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the archive was cut short: %w", err)
		}
		name := filepath.Clean(header.Name)
		if header.Typeflag != tar.TypeReg || strings.HasPrefix(filepath.Base(name), ".") {
			continue
		}
		if err := write(root, name, files); err != nil {
			return err
		}
	}
}

// write writes one file and makes its folders; root rejects paths outside it.
func write(root *os.Root, name string, content io.Reader) error {
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	file, err := root.Create(name)
	if err != nil {
		return err
	}
	if _, err := io.Copy(file, content); err != nil {
		_ = file.Close()
		return err
	}
	return file.Close()
}
