package config

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// nestings are texts of n levels each.
var nestings = map[string]func(n int) string{
	"inline tables":        func(n int) string { return "b = " + strings.Repeat("{b=", n) + "1" + strings.Repeat("}", n) },
	"lists":                func(n int) string { return "b = " + strings.Repeat("[", n) + "1.5" + strings.Repeat("]", n) },
	"lines of lists":       func(n int) string { return "b = " + strings.Repeat("[\n", n) + strings.Repeat("]\n", n) },
	"later elements":       func(n int) string { return "b = " + strings.Repeat("[1, ", n) + strings.Repeat("]", n) },
	"both":                 func(n int) string { return "b = " + strings.Repeat("[{b=", n/2) + "1" + strings.Repeat("}]", n/2) },
	"a dotted key":         func(n int) string { return strings.Repeat("b.", n) + "b = 1" },
	"with blanks":          func(n int) string { return strings.Repeat("b\t . ", n) + "b = 1" },
	"quoted names":         func(n int) string { return strings.Repeat(`"b".'b'.`, n/2) + "b = 1" },
	"a header":             func(n int) string { return "[b" + strings.Repeat(".b", n-1) + "]" },
	"a header of lists":    func(n int) string { return "[[b" + strings.Repeat(".'b'", n-1) + "]]" },
	"below a header":       func(n int) string { return "[b]\na = 1\nb" + strings.Repeat(".b", n-1) + " = 1.5" },
	"dots in tables":       func(n int) string { return "b = " + strings.Repeat("{b.b=", n/2) + "1" + strings.Repeat("}", n/2) },
	"a later key":          func(n int) string { return "b = {a = [{}], b" + strings.Repeat(".b", n-1) + " = 1}" },
	"a key behind a value": func(n int) string { return "b = {a = 1, b" + strings.Repeat(".b", n-1) + " = 1}" },
	"a float behind a value": func(n int) string {
		return "b = " + strings.Repeat("[", n) + "1, 1.5" + strings.Repeat("]", n)
	},
	"a later line": func(n int) string { return "c = '''\n'''\n[b]\n[a.a]\nb = {\n b" + strings.Repeat(".b", n-3) + " = 1}" },
	"behind quotes": func(n int) string {
		return `a = """\""""""` + "\nb = " + strings.Repeat("{b=", n) + "1" + strings.Repeat("}", n)
	},
}

func TestWhatNestsTooDeepIsNotGivenToTheLibrary(t *testing.T) {
	for what, text := range nestings {
		fits := "\n" + text(maxNesting)
		if fault, found := nestingFault("f", fits); found {
			t.Errorf("%s: %d levels: got %v\n%s", what, maxNesting, fault, fits)
		}
		var tree map[string]any
		if _, err := toml.Decode(fits, &tree); err != nil {
			t.Errorf("%s: %v\n%s", what, err, fits)
		}
		if _, found := nestingFault("f", text(maxNesting+2)); !found {
			t.Errorf("%s: %d levels are let through", what, maxNesting+2)
		}
	}
}

func TestOneLevelTooManyIsAFaultWithItsLine(t *testing.T) {
	for _, text := range []string{
		"\n\nb = " + strings.Repeat("[", maxNesting+1),
		"[b]\n\nb" + strings.Repeat(".b", maxNesting) + " = 1",
		"\n\n[b" + strings.Repeat(".b", maxNesting) + "]",
		"\n\nb = " + strings.Repeat("{b=", 1000),
		"\n\n[" + strings.Repeat("b.", 1000),
	} {
		_, err := Parse("c.toml", []byte(text))
		if want := "c.toml:3: nests deeper than 32 levels of tables, lists and dotted keys"; fmt.Sprint(err) != want {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

// Brackets and dots are levels where they mean something, and count until their end.
func TestFlatTextsNestLittle(t *testing.T) {
	example, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat("[{.", maxNesting)
	for what, text := range map[string]string{
		"the example":    string(example),
		"awkward":        awkward,
		"minimal":        minimal,
		"a string":       `a = "` + many + `"`,
		"an escape":      `a = "\"` + many + `\\"`,
		"a literal":      `a = '\` + many + `\'`,
		"a long string":  `a = """` + "\n\"\"" + many + `\"""` + many + `"""""` + "\nb = 1",
		"a long literal": "a = '''\n''" + many + `\'''''` + "\nb = 1",
		"an empty one":   `a = """"""` + "\nb = ''''''\n",
		"a comment":      "# " + many + "\na = 1 # " + many + "\n[b] # " + many + "\na = [ # " + many + "\n1, # " + many + "\n]\nc = { # " + many + "\n}",
		"a quoted key":   `"` + many + `" = 1` + "\n'" + many + ".' = { \"" + many + "\".a = 1 }",
		"a quoted table": "[\"" + many + "]\"]\n[['" + many + "']]",
		"many lists":     "a = [" + strings.Repeat("[1.5, {a.b = 2.5}],\n", 100) + "]",
		"many tables":    strings.Repeat("[[a]]\n[a.b.c]\nd.e = 1.5\n", 100),
		"many lines":     flatLines(100),
		"many keys":      "a = [{" + strings.Repeat("}, {a.b = 1, c.d = 2", 100) + "}]",
		"many values":    "a = [" + strings.Repeat("1.5, 1979-05-27T07:32:00.5Z, ", 100) + "]",
	} {
		for _, text := range []string{text, strings.ReplaceAll(text, "\n", "\r\n"), "\xef\xbb\xbf" + text} {
			if fault, found := nestingFault("f", text); found {
				t.Errorf("%s: got %v\n%s", what, fault, text)
			}
		}
		var tree map[string]any
		if _, err := toml.Decode(text, &tree); err != nil {
			t.Errorf("%s is not legal: %v", what, err)
		}
	}
}

func flatLines(n int) string {
	var lines strings.Builder
	for i := range n {
		fmt.Fprintf(&lines, "a%d.b.c = { d.e = 1 } # f\n", i)
	}
	return lines.String()
}
