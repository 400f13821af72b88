package command

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	testNamed   = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w+`)
	testWritten = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)[A-Z]\w+)\(`)
)

// A promise names the test that checks it (docs/dev/guarantees.md). It is there, whatever
// its build tag, and named to maintainers alone.
func TestTestsThatPagesNameAreThere(t *testing.T) {
	written := make(map[string]bool)
	err := filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() && entry.Name() == "node_modules" {
			return fs.SkipDir
		}
		if !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		source, err := os.ReadFile(path)
		for _, match := range testWritten.FindAllStringSubmatch(string(source), -1) {
			written[match[1]] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, page := range pages(t) {
		for _, name := range testNamed.FindAllString(page.text, -1) {
			named++
			if !written[name] {
				t.Errorf("%s names %s, which is nowhere", page.path, name)
			}
			if !strings.HasPrefix(page.path, "docs/dev/") && page.path != "CONTRIBUTING.md" {
				t.Errorf("%s names %s: its readers run berth, what names tests stands in docs/dev", page.path, name)
			}
		}
	}
	if named == 0 {
		t.Error("no page names a test")
	}
}
