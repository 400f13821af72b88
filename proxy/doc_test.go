package proxy_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The package comment leads a newcomer to every package below.
func TestPackageCommentNamesEveryPackage(t *testing.T) {
	doc := packageComment(t)
	below, err := filepath.Glob("*/doc.go")
	if err != nil || len(below) == 0 {
		t.Fatalf("got %d packages, %v", len(below), err)
	}
	for _, file := range below {
		if name := filepath.Dir(file) + "/"; !strings.Contains(doc, " "+name) && !strings.Contains(doc, "\t"+name) {
			t.Errorf("%s is not in doc.go", name)
		}
	}
}

// It names nothing that is not there.
func TestPackageCommentNamesFilesThatExist(t *testing.T) {
	named := regexp.MustCompile(`([a-z]+/)?[a-z]+\.go|[a-z]+/`).FindAllString(packageComment(t), -1)
	if len(named) == 0 {
		t.Fatal("doc.go names nothing")
	}
	for _, name := range named {
		if _, err := os.Stat(name); err != nil {
			t.Errorf("doc.go names %s: %v", name, err)
		}
	}
}

func packageComment(t *testing.T) string {
	t.Helper()
	doc, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(doc), "//", "")
}
