// SPDX-License-Identifier: AGPL-3.0-only

package doctor

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

const linksAndTproxy = "links (make link, LINK=…) and the testbeds tproxy and tproxy-pair cannot run"

// inNamespace calls a function on a thread in a new network namespace, which ends with the thread.
func inNamespace(call func() error) error {
	made := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with this function
		if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
			made <- err
			return
		}
		made <- call()
	}()
	return <-made
}

// inUserNamespace reports whether this user may make a network namespace in a user namespace.
func inUserNamespace() bool {
	program, err := exec.LookPath("true")
	if err != nil {
		return false
	}
	cmd := exec.Command(program)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	return cmd.Run() == nil
}

func namespaces() Finding {
	err := inNamespace(func() error { return nil })
	if err == nil {
		return ok("network namespaces", "this user may make them")
	}
	f := Finding{Name: "network namespaces", State: Missing, Found: fmt.Sprintf("this user may not make them: %v", err), Without: linksAndTproxy}
	switch {
	case inUserNamespace():
		f.State, f.Fix = Limited, "run the command in a user namespace: unshare -Ur make …"
	case os.Geteuid() == 0:
		f.Fix = "give this root CAP_SYS_ADMIN and CAP_NET_ADMIN: a privileged container has them"
	default:
		f.Fix = "run the command as root"
	}
	return f
}

const tun = "/dev/net/tun"

func tunDevice() Finding {
	f := Finding{Name: "TUN device", State: Missing, Without: "links (make link, LINK=…) cannot run"}
	if _, err := os.Stat(tun); err != nil {
		f.Found = "this machine has no " + tun
		f.Fix = "modprobe tun; a container gets the device by --device " + tun
		return f
	}
	err := inNamespace(func() error {
		file, err := os.OpenFile(tun, os.O_RDWR, 0)
		if err != nil {
			return err
		}
		defer file.Close()
		request, err := unix.NewIfreq("doctor0")
		if err != nil {
			return err
		}
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		return unix.IoctlIfreq(int(file.Fd()), unix.TUNSETIFF, request)
	})
	switch {
	case err == nil:
		return ok("TUN device", "a device was made in a namespace, and removed")
	case errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES):
		f.Found = fmt.Sprintf("%s is there, and this user may not use it: %v", tun, err)
		f.Fix = "see network namespaces above"
		if inUserNamespace() {
			f.State = Limited
		}
	default:
		f.Found = fmt.Sprintf("no device can be made: %v", err)
		f.Fix = "look at the kernel's module tun"
	}
	return f
}

// find looks for a program in PATH, and in the sbin folder beside each bin folder.
func find(program string) string {
	for _, folder := range filepath.SplitList(os.Getenv("PATH")) {
		for _, place := range []string{folder, strings.Replace(folder, "/bin", "/sbin", 1)} {
			path := filepath.Join(place, program)
			if info, err := os.Stat(path); err == nil && !info.IsDir() && info.Mode()&0o111 != 0 {
				return path
			}
		}
	}
	return ""
}

func tproxy() Finding {
	f := Finding{Name: "transparent proxy", State: Missing, Without: "the testbeds tproxy and tproxy-pair cannot run"}
	iptables := find("iptables")
	if iptables == "" || find("ip") == "" {
		f.Found, f.Fix = "ip or iptables is not installed", "apt-get install iproute2 iptables"
		return f
	}
	var said []byte
	err := inNamespace(func() error {
		// A child is in the namespace of the thread that starts it.
		var err error
		said, err = exec.Command(iptables, "-t", "mangle", "-A", "PREROUTING", "-p", "tcp", "-j", "TPROXY", "--on-port", "1", "--tproxy-mark", "1").CombinedOutput()
		return err
	})
	if err == nil {
		return ok("transparent proxy", "the kernel takes a rule with TPROXY")
	}
	f.Found = "the kernel takes no rule with TPROXY: " + firstLine(string(said), err)
	f.Fix = "see network namespaces above, or load the kernel's module xt_TPROXY"
	if errors.Is(err, unix.EPERM) && inUserNamespace() {
		f.State = Limited
	}
	return f
}

func firstLine(said string, err error) string {
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	if line == "" {
		return err.Error()
	}
	return line
}

func sshd() Finding {
	if path := find("sshd"); path != "" {
		return ok("sshd", "%s", path)
	}
	return Finding{Name: "sshd", State: Missing, Found: "not installed", Without: "the row ssh of the protocol matrix is left out", Fix: "apt-get install openssh-server"}
}
