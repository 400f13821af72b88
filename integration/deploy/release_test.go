package deploy

import (
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/CycloneDX/cyclonedx-go"
)

// release makes what a release has for one platform, and returns where.
func release(t *testing.T, platform string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.CommandContext(t.Context(), "../../deploy/release.sh", dir, platform).CombinedOutput(); err != nil {
		t.Fatalf("release.sh: %v\n%s", err, out)
	}
	return dir
}

// only is the one file in dir that the pattern names.
func only(t *testing.T, dir, pattern string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) != 1 {
		t.Fatalf("%s: got %v, %v, want one", pattern, found, err)
	}
	return found[0]
}

// A release is one program, its bill of materials and their checksums, byte for byte the same each time, and the program says
// which commit it is of.
func TestReleaseIsTheSameEachTime(t *testing.T) {
	platform := runtime.GOOS + "/" + runtime.GOARCH
	first, second := release(t, platform), release(t, platform)
	sums := only(t, first, "SHA256SUMS")
	check := exec.CommandContext(t.Context(), "sha256sum", "--check", "--strict", sums)
	check.Dir = second // the sums of one hold for the other
	if out, err := check.CombinedOutput(); err != nil || bytes.Count(out, []byte(": OK\n")) != 2 {
		t.Errorf("sha256sum: %v\n%s", err, out)
	}
	program := only(t, first, "berth-*-"+runtime.GOARCH)
	out, err := exec.CommandContext(t.Context(), program, "version").CombinedOutput()
	if err != nil || !regexp.MustCompile(`^berth \d+\.\d+\.\d+ (unknown|[0-9a-f]{40})`).Match(out) {
		t.Errorf("berth version: %v, %s", err, out)
	}
	holdBillTo(t, only(t, first, "*.cdx.json"), program)
}

// holdBillTo compares a bill of materials with what the program says itself.
func holdBillTo(t *testing.T, path, program string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	var bill cyclonedx.BOM
	if err := strict.Decode(&bill); err != nil {
		t.Fatalf("no CycloneDX: %v", err)
	}
	if bill.BOMFormat != cyclonedx.BOMFormat || bill.SpecVersion != cyclonedx.SpecVersion1_6 || bill.Metadata.Component.Name != "berth" {
		t.Errorf("got a %s of %s, of %s", bill.BOMFormat, bill.SpecVersion, bill.Metadata.Component.Name)
	}
	listed := make(map[string]bool)
	for _, c := range *bill.Components {
		listed[c.Name+" "+c.Version] = true
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	for _, module := range info.Deps {
		if !listed[module.Path+" "+module.Version] {
			t.Errorf("the bill lacks %s %s", module.Path, module.Version)
		}
	}
	if want := len(info.Deps) + 1; len(listed) != want {
		t.Errorf("the bill has %d components, want %d: the modules and Go's library", len(listed), want)
	}
}
