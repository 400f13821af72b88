package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// What a stranger is to find its way in stays small: a package has few files, and no type collects methods from all over. Packages for
// tests alone, where a method is a case, may have more.
const (
	mostFiles   = 30 // of a package, tests aside
	mostMethods = 45 // of a type
)

func TestPackagesAndTypesStaySmall(t *testing.T) {
	for _, dir := range packages(t) {
		if strings.HasSuffix(dir, "test") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(module, dir, "*.go"))
		if err != nil {
			t.Fatalf("Glob: %v", err)
		}
		n, methods := 0, map[string]map[string]bool{}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			n++
			addMethods(t, file, methods)
		}
		if n > mostFiles {
			t.Errorf("%s has %d files, want %d at most", dir, n, mostFiles)
		}
		for of, names := range methods {
			if len(names) > mostMethods {
				t.Errorf("%s.%s has %d methods, want %d at most", dir, of, len(names), mostMethods)
			}
		}
	}
}

// addMethods adds those that a file has, by their types. Files for several systems may have the same.
func addMethods(t *testing.T, file string, methods map[string]map[string]bool) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatalf("ParseFile: %v", err)
	}
	for _, decl := range parsed.Decls {
		method, ok := decl.(*ast.FuncDecl)
		if !ok || method.Recv == nil {
			continue
		}
		of := receiver(method.Recv.List[0].Type)
		if methods[of] == nil {
			methods[of] = map[string]bool{}
		}
		methods[of][method.Name.Name] = true
	}
}

// receiver is the name of a method's type.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.IndexListExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return ""
}
