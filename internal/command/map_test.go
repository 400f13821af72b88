package command

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// mapped is a line of the map: packages, and what they are.
var mapped = regexp.MustCompile(`(?m)^ {4,6}(\S+(?:,? \S+)*)(?: {2,}.*)?$`)

// The map of docs/dev/design.md has each package, and nothing that is none. A name without a folder lies beside the one before it.
func TestTheMapHasEachPackage(t *testing.T) {
	design, err := os.ReadFile(filepath.Join(module, "docs/dev/design.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, house, _ := strings.Cut(string(design), "\n## The house\n")
	house, _, found := strings.Cut(house, "\n## ")
	if !found {
		t.Fatal("design.md has no map")
	}
	named, all := map[string]bool{".": true}, packages(t)
	before := ""
	for _, line := range mapped.FindAllStringSubmatch(house, -1) {
		for name := range strings.FieldsFuncSeq(line[1], func(r rune) bool { return r == ' ' || r == ',' }) {
			if name == "main.go" {
				continue
			}
			if before != "" && !strings.Contains(name, "/") && !slices.Contains(all, name) {
				name = path.Join(path.Dir(before), name)
			}
			if before = name; !slices.Contains(all, name) {
				t.Errorf("the map has %s, which is no package", name)
			}
			named[name] = true
		}
	}
	for _, dir := range all {
		if !forTests(dir) && !named[dir] {
			t.Errorf("%s is not in the map", dir)
		}
	}
}
