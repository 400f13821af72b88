package proxy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The package comment leads a newcomer to every file.
func TestPackageCommentNamesEveryFile(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d files, %v", len(files), err)
	}
	for _, file := range files {
		if file == "doc.go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		if !strings.Contains(string(doc), " "+file) && !strings.Contains(string(doc), "("+file) {
			t.Errorf("%s is not in doc.go", file)
		}
	}
}
