// SPDX-License-Identifier: AGPL-3.0-only

// Package document reads JSON and TOML files into plain values. Its errors give line and column.
package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"windtunnel/k6/internal/exit"
)

// MaxBytes is the largest size of a document.
const MaxBytes = 64 << 20

// Read returns the value of a .json or .toml file like jsonschema.UnmarshalJSON: maps, slices, strings, booleans,
// json.Number and nil. The error is one line without the file's name.
func Read(path string) (any, error) {
	data, err := load(path)
	if err != nil {
		return nil, err
	}
	if filepath.Ext(path) == ".toml" {
		return parseTOML(data)
	}
	return parseJSON(data)
}

// Decode reads a file and stores it in v by its JSON tags.
func Decode(path string, v any) error {
	doc, err := Read(path)
	if err != nil {
		return err
	}
	return Into(doc, v)
}

// Into stores a value from Read in v by its JSON tags.
func Into(doc, v any) error {
	data, err := json.Marshal(doc)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, v)
}

// Strictly stores JSON in v. A field that v does not have is an error.
func Strictly(data []byte, v any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(v)
}

// JSON writes a value as JavaScript does: with unescaped <, > and &.
func JSON(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSpace(text.Bytes()), err
}

func load(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, exit.Reason(err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxBytes+1))
	if err != nil {
		return nil, exit.Reason(err)
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("is larger than %d MiB", MaxBytes>>20)
	}
	return data, nil
}

var comma = regexp.MustCompile(`,\s*[}\]]$`)

// commaBefore explains a closing bracket behind a comma, where text is all up to the bracket; "" for any other fault.
func commaBefore(text []byte) string {
	if comma.Match(text) {
		return "; remove the comma before it"
	}
	return ""
}

func parseJSON(data []byte) (any, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("is empty, must be a JSON object")
	}
	var probe any
	err := json.Unmarshal(data, &probe)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		line, column := position(data, syntax.Offset)
		return nil, fmt.Errorf("line %d, column %d: bad JSON: %s%s", line, column, syntax.Error(), commaBefore(data[:syntax.Offset]))
	}
	if err != nil {
		return nil, fmt.Errorf("bad JSON: %w", err)
	}
	if key, offset := duplicateKey(data); key != "" {
		line, column := position(data, offset)
		return nil, fmt.Errorf("line %d, column %d: the key %q is there twice; keep one", line, column, key)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("bad JSON: %w", err)
	}
	return doc, nil
}

func parseTOML(data []byte) (any, error) {
	table := map[string]any{}
	if err := toml.Unmarshal(data, &table); err != nil {
		var decode *toml.DecodeError
		if errors.As(err, &decode) {
			line, column := decode.Position()
			return nil, fmt.Errorf("line %d, column %d: bad TOML: %s", line, column,
				strings.TrimPrefix(decode.Error(), "toml: "))
		}
		return nil, fmt.Errorf("bad TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	text, err := json.Marshal(table)
	if err != nil {
		return nil, fmt.Errorf("bad TOML: %w", err)
	}
	return jsonschema.UnmarshalJSON(bytes.NewReader(text))
}

// position converts the offset after a faulty byte to its line and column, from 1.
func position(data []byte, offset int64) (line, column int) {
	before := data[:min(int64(len(data)), max(0, offset-1))]
	line = 1 + bytes.Count(before, []byte("\n"))
	column = 1 + len([]rune(string(before[bytes.LastIndexByte(before, '\n')+1:])))
	return line, column
}

// duplicateKey returns the first key that appears twice in an object of valid JSON, and the offset after its first byte.
// encoding/json would silently use the second.
func duplicateKey(data []byte) (string, int64) {
	_, err := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowInvalidUTF8(true)).ReadValue()
	if twice := (*jsontext.SyntacticError)(nil); errors.As(err, &twice) && errors.Is(err, jsontext.ErrDuplicateName) {
		return twice.JSONPointer.LastToken(), twice.ByteOffset + 1
	}
	return "", 0
}
