// Command sbom writes a CycloneDX list of what is in a release: the Go modules in a k6 binary, which Go's linker wrote into it, the
// crates that `cargo tree` names on standard input, a line `NAME vVERSION` each, and both standard libraries, whose versions are those of
// the toolchains. Usage: sbom VERSION K6 RUST < crates > sbom.cdx.json; RUST is the toolchain's version.
package main

import (
	"bufio"
	"cmp"
	"debug/buildinfo"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION K6 RUST < crates > sbom.cdx.json")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(4)
	}
}

// write writes the list; equal inputs give equal bytes: it has no time and no serial number.
func write(version, k6, rust string, crates io.Reader, out io.Writer) error {
	parts, err := modules(k6)
	if err != nil {
		return err
	}
	ofCargo, err := cratesOf(crates)
	if err != nil {
		return err
	}
	parts = append(append(parts, ofCargo...), part("generic", "rust-std", rust))
	slices.SortFunc(parts, func(a, b cdx.Component) int { return cmp.Compare(a.PackageURL, b.PackageURL) })
	bom := cdx.NewBOM()
	bom.Metadata = &cdx.Metadata{Component: &cdx.Component{BOMRef: "windtunnel", Type: cdx.ComponentTypeApplication, Name: "windtunnel", Version: version}}
	bom.Components = &parts
	encoder := cdx.NewBOMEncoder(out, cdx.BOMFileFormatJSON)
	encoder.SetPretty(true)
	return encoder.Encode(bom)
}

func modules(k6 string) ([]cdx.Component, error) {
	info, err := buildinfo.ReadFile(k6)
	if err != nil {
		return nil, err
	}
	parts := []cdx.Component{part("golang", "stdlib", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, dep := range info.Deps {
		if dep.Replace != nil {
			dep = dep.Replace
		}
		parts = append(parts, part("golang", dep.Path, dep.Version))
	}
	return parts, nil
}

func cratesOf(list io.Reader) ([]cdx.Component, error) {
	var parts []cdx.Component
	lines := bufio.NewScanner(list)
	for lines.Scan() {
		name, version, ok := strings.Cut(lines.Text(), " v")
		if !ok {
			return nil, fmt.Errorf("%q is no line of cargo tree", lines.Text())
		}
		parts = append(parts, part("cargo", name, version))
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("no crate on standard input")
	}
	return parts, lines.Err()
}

func part(kind, name, version string) cdx.Component {
	purl := fmt.Sprintf("pkg:%s/%s@%s", kind, name, version)
	return cdx.Component{BOMRef: purl, Type: cdx.ComponentTypeLibrary, Name: name, Version: version, PackageURL: purl}
}
