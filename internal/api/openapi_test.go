package api

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write openapi.yaml")

// Nameless types of what the command answers, and of what every fault is.
type (
	// Empty is an order without anything to say.
	Empty struct{}
	// Error is any answer but 200, except for 401 and 403 of the listener itself, which are plain text.
	Error struct {
		Error Fault `json:"error"`
	}
	// Fault is why a request was not done.
	Fault struct {
		Code    string `json:"code"`    // for programs: "not_found", "bad_request", "store_unavailable", …
		Message string `json:"message"` // for people
		Details any    `json:"details,omitempty"`
	}
)

// told are the types of answers and orders; the types that these are made of join by themselves.
var told = []any{
	Status{}, Berths{}, Pools{}, Pool{}, Upstreams{}, Upstream{}, Events{}, Tasks{}, TaskDetail{}, Sessions{}, Subscriptions{}, Queues{}, Queue{},
	Explanation{}, Decisions{}, Limits{}, Config{}, Reloaded{}, LogLevel{}, Error{},
}

var ordered = []any{Empty{}, DrainOrder{}, TaskOrder{}, PauseOrder{}, Question{}, LogOrder{}}

// The file is what the types and testdata/paths.yaml say, to the letter.
func TestOpenAPIDescribesTheTypes(t *testing.T) {
	paths, err := os.ReadFile("testdata/paths.yaml")
	if err != nil {
		t.Fatal(err)
	}
	w := &writer{comments: comments(t, ".", "../drain"), schemas: map[string]string{}}
	w.Write(paths)
	w.WriteString("  responses:\n")
	for _, value := range told {
		name := w.schema(reflect.TypeOf(value))
		fmt.Fprintf(w, "    %s: {description: %s, content: {application/json: {schema: {$ref: \"#/components/schemas/%s\"}}}}\n", name, quoted(w.comments[name]), name)
	}
	for _, value := range ordered {
		w.schema(reflect.TypeOf(value))
	}
	w.WriteString("  schemas:\n")
	for _, name := range slices.Sorted(maps.Keys(w.schemas)) {
		w.WriteString(w.schemas[name])
	}
	if *update {
		if err := os.WriteFile("openapi.yaml", w.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(w.Bytes(), OpenAPI) {
		t.Error("openapi.yaml is not what the types say: go test ./internal/api -run OpenAPI -update")
	}
}

// writer writes schemas, each once.
type writer struct {
	bytes.Buffer
	comments map[string]string // by type, and by type and field
	schemas  map[string]string
}

// schema has t be among the schemas, and returns its name there.
func (w *writer) schema(t reflect.Type) string {
	name := nameOf(t)
	if _, is := w.schemas[name]; is {
		return name
	}
	w.schemas[name] = "" // it may be made of itself
	var b, required strings.Builder
	w.properties(t, &b, &required)
	text := fmt.Sprintf("    %s:\n      type: object\n", name)
	if says := w.comments[name]; says != "" {
		text += "      description: " + quoted(says) + "\n"
	}
	text += "      additionalProperties: false\n"
	if required.Len() > 0 {
		text += "      required: [" + strings.TrimSuffix(required.String(), ", ") + "]\n"
	}
	if b.Len() > 0 {
		text += "      properties:\n" + b.String()
	}
	w.schemas[name] = text
	return name
}

// nameOf is the type's name; what is of package drain is told under its name here.
func nameOf(t reflect.Type) string {
	if t == reflect.TypeFor[MayStop]() {
		return "MayStop"
	}
	return t.Name()
}

func (w *writer) properties(t reflect.Type, b, required *strings.Builder) {
	for field := range t.Fields() {
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Anonymous && tag == "" {
			w.properties(field.Type, b, required)
			continue
		}
		if !strings.HasPrefix(options, "omit") && !slices.ContainsFunc(ordered, func(o any) bool { return reflect.TypeOf(o) == t }) {
			required.WriteString(tag + ", ")
		}
		says := ""
		if comment := strings.TrimSpace(w.comments[nameOf(t)+"."+field.Name]); comment != "" {
			says = ", description: " + quoted(comment)
		}
		fmt.Fprintf(b, "        %s: {%s%s}\n", tag, w.typed(field.Type), says)
	}
}

// typed is what is said of a value of type t, without braces.
func (w *writer) typed(t reflect.Type) string {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return "type: string, format: date-time"
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return "x-any: true"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return w.typed(t.Elem())
	case reflect.Struct:
		return fmt.Sprintf("$ref: \"#/components/schemas/%s\"", w.schema(t))
	case reflect.Slice:
		return "type: array, items: {" + w.typed(t.Elem()) + "}"
	case reflect.Map:
		return "type: object, additionalProperties: {" + w.typed(t.Elem()) + "}"
	case reflect.String:
		return "type: string"
	case reflect.Bool:
		return "type: boolean"
	case reflect.Float64:
		return "type: number"
	}
	return "type: integer"
}

// quoted is a comment as YAML has it, on one line.
func quoted(comment string) string {
	text, _ := json.Marshal(strings.Join(strings.Fields(comment), " "))
	return string(bytes.ReplaceAll(bytes.ReplaceAll(bytes.ReplaceAll(text, []byte(`\u003c`), []byte("<")), []byte(`\u003e`), []byte(">")), []byte(`\u0026`), []byte("&")))
}

var link = regexp.MustCompile(`\[([A-Za-z.]+)\]`)

// comments are those of the types in folders, and of their fields.
func comments(t *testing.T, folders ...string) map[string]string {
	all := map[string]string{}
	for _, folder := range folders {
		files, err := filepath.Glob(folder + "/*.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(parsed, func(n ast.Node) bool {
				group, is := n.(*ast.GenDecl)
				if !is {
					return true
				}
				for _, spec := range group.Specs {
					if typed, is := spec.(*ast.TypeSpec); is {
						note(all, toldAs(folder, typed.Name.Name), group, typed)
					}
				}
				return false
			})
		}
	}
	return all
}

// toldAs is nameOf of a type in a folder.
func toldAs(folder, name string) string {
	if folder == "../drain" && name == reflect.TypeFor[MayStop]().Name() {
		return "MayStop"
	}
	return name
}

func note(all map[string]string, name string, group *ast.GenDecl, typed *ast.TypeSpec) {
	doc := typed.Doc.Text()
	if doc == "" {
		doc = group.Doc.Text()
	}
	for _, verb := range []string{" is ", " are ", " says "} {
		doc = strings.TrimPrefix(doc, typed.Name.Name+verb)
	}
	all[name] = capital(link.ReplaceAllString(doc, "$1"))
	body, is := typed.Type.(*ast.StructType)
	if !is {
		return
	}
	for _, field := range body.Fields.List {
		for _, own := range field.Names {
			all[name+"."+own.Name] = link.ReplaceAllString(field.Doc.Text()+" "+field.Comment.Text(), "$1")
		}
	}
}

func capital(text string) string {
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
