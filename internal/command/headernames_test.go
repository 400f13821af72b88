package command

import (
	"go/ast"
	"go/parser"
	"go/token"
	"net/textproto"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// takesName are the methods of a wire.Header that take a name, in its one spelling.
var takesName = []string{"Get", "Lacks", "Has", "Settles", "First", "Join", "Values", "Add", "Set", "Take", "Del", "Withhold"}

// A header compares names byte by byte: one that is asked for in another spelling is never there. Files that import net/http
// ask its headers, which forgive that.
func TestHeadersAreAskedForNamesAsTheySpellThem(t *testing.T) {
	seen := 0
	for _, dir := range packages(t) {
		if forTests(dir) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(module, dir, "*.go"))
		if err != nil {
			t.Fatalf("Glob: %v", err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") || slices.ContainsFunc(importsOf(t, file), isHTTP) {
				continue
			}
			for _, name := range namesAsked(t, file) {
				if seen++; textproto.CanonicalMIMEHeaderKey(name) != name {
					t.Errorf("%s: %s is spelt %s", file, name, textproto.CanonicalMIMEHeaderKey(name))
				}
			}
		}
	}
	if seen < 50 {
		t.Errorf("found %d names", seen)
	}
}

// namesAsked are the literal names that a file asks headers for, or gives them.
func namesAsked(t *testing.T, file string) (names []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatalf("ParseFile: %v", err)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		to, ok := call.Fun.(*ast.SelectorExpr)
		switch {
		case !ok:
		case to.Sel.Name == "NewHeader":
			for i := 0; i < len(call.Args); i += 2 {
				names = append(names, literal(call.Args[i])...)
			}
		case len(call.Args) > 0 && isHeader(to.X) && slices.Contains(takesName, to.Sel.Name):
			names = append(names, literal(call.Args[0])...)
		}
		return true
	})
	return names
}

// isHeader tells by its name what is a header: h, header, x.Header, x.Header().
func isHeader(e ast.Expr) bool {
	if call, ok := e.(*ast.CallExpr); ok {
		e = call.Fun
	}
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == "h" || strings.EqualFold(e.Name, "header")
	case *ast.SelectorExpr:
		return strings.EqualFold(e.Sel.Name, "header")
	}
	return false
}

func literal(e ast.Expr) []string {
	if text, ok := e.(*ast.BasicLit); ok && text.Kind == token.STRING {
		if name, err := strconv.Unquote(text.Value); err == nil {
			return []string{name}
		}
	}
	return nil
}
