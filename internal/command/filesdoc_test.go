package command

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	tabled   = regexp.MustCompile(`(?m)^//\t.*\b[a-z0-9]+(?:_[a-z]+)?\.go\b`)
	fileName = regexp.MustCompile(`[a-z0-9_]+/?[a-z0-9_]*\.go\b`)
)

// A package comment that leads to the package's files leads to all of them, and to none that is not there. Of those for several
// systems one stands for the others.
func TestPackageCommentsNameEachFile(t *testing.T) {
	tables := 0
	for _, dir := range packages(t) {
		dir = filepath.Join(module, dir)
		comment, err := os.ReadFile(filepath.Join(dir, "doc.go"))
		if err != nil || !tabled.Match(comment) {
			continue
		}
		tables++
		var named []string
		for _, name := range fileName.FindAllString(string(comment), -1) {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Errorf("%s: doc.go names %s, which is not there", dir, name)
			}
			named = append(named, system(name))
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			file = filepath.Base(file)
			if file != "doc.go" && !strings.HasSuffix(file, "_test.go") && !slices.Contains(named, system(file)) {
				t.Errorf("%s: doc.go does not name %s", dir, file)
			}
		}
	}
	if tables == 0 {
		t.Error("no package comment names files")
	}
}

// system is a file's name without the system that it is for.
func system(name string) string {
	for _, of := range []string{"_linux", "_unix", "_other"} {
		name = strings.Replace(name, of+".go", ".go", 1)
	}
	return name
}
