package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

func TestWrite(t *testing.T) {
	own, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	for _, out := range []*bytes.Buffer{&first, &second} {
		if err := write("1.2.3", own, "1.95.0", strings.NewReader("serde v1.0.229\nanstream v1.0.0\n"), out); err != nil {
			t.Fatal(err)
		}
	}
	if first.String() != second.String() {
		t.Error("equal inputs give different lists")
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(&first, cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, c := range *bom.Components {
		there[c.PackageURL] = true
	}
	for _, want := range []string{"pkg:cargo/serde@1.0.229", "pkg:cargo/anstream@1.0.0", "pkg:generic/rust-std@1.95.0"} {
		if !there[want] {
			t.Errorf("%s is not in %v", want, there)
		}
	}
	if bom.Metadata.Component.Version != "1.2.3" {
		t.Errorf("the version is %s", bom.Metadata.Component.Version)
	}
	for _, crates := range []string{"", "serde\n"} {
		if err := write("1", own, "1", strings.NewReader(crates), &second); err == nil {
			t.Errorf("the crates %q are taken", crates)
		}
	}
}
