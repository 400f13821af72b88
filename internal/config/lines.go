package config

import (
	"strings"

	"github.com/BurntSushi/toml"
)

type lineMap map[string]int

func (m lineMap) of(key string) int {
	for {
		if line, ok := m[key]; ok {
			return line
		}
		cut := strings.LastIndexAny(key, ".[")
		if cut < 0 {
			return 0
		}
		key = key[:cut]
	}
}

// cursor stands somewhere in the text of a file. What it passes need not be TOML.
type cursor struct {
	text string
	pos  int
	line int
}

func newCursor(text string) cursor { return cursor{text: withoutBOM(text), line: 1} }

// lineFinder reads valid TOML just closely enough to say where each key stands. The TOML library
// keeps positions to itself.
type lineFinder struct {
	cursor
	table string         // the path that the last [header] opened
	count map[string]int // how often a [[header]] has opened each path
	found lineMap
}

func findLines(text string) lineMap {
	f := &lineFinder{cursor: newCursor(text), count: map[string]int{}, found: lineMap{}}
	for f.blank("\n"); f.pos < len(f.text); f.blank("\n") {
		if f.peek() == '[' {
			f.header()
		} else {
			f.pair(f.table)
		}
	}
	return f.found
}

// withoutBOM is text as the TOML parser reads it.
func withoutBOM(text string) string {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff", "\xef\xbb\xbf"} {
		if rest, ok := strings.CutPrefix(text, mark); ok {
			return rest
		}
	}
	return text
}

// header reads [a.b] or [[a.b]]. Of a list of tables in the path the last element is meant.
func (f *lineFinder) header() {
	list := strings.HasPrefix(f.text[f.pos:], "[[")
	names := f.names(']')
	path := ""
	for i, name := range names {
		path = joinKey(path, name)
		f.note(path)
		if list && i == len(names)-1 {
			f.count[path]++
		}
		if n := f.count[path]; n > 0 {
			path = elementKey(path, n-1)
		}
	}
	f.table = path
	f.note(path)
	f.skip(']')
}

func (f *lineFinder) pair(table string) {
	for _, name := range f.names('=') {
		table = joinKey(table, name)
		f.note(table)
	}
	f.skip('=')
	f.blank("")
	f.value(table)
}

func (f *lineFinder) names(end byte) []string {
	var names []string
	for f.pos < len(f.text) && f.peek() != end {
		switch c := f.peek(); c {
		case '"', '\'':
			names = append(names, unquote(f.quoted()))
		case '[', '.', ' ', '\t':
			f.pos++
		default:
			names = append(names, f.until("[]=. \t\n\"'"))
		}
	}
	return names
}

func (f *lineFinder) value(key string) {
	switch f.peek() {
	case '"', '\'':
		f.quoted()
	case '[':
		f.pos++
		for i := 0; f.more(']'); i++ {
			f.note(elementKey(key, i))
			f.value(elementKey(key, i))
		}
		f.pos++
	case '{':
		f.pos++
		for f.more('}') {
			f.pair(key)
		}
		f.pos++
	default:
		f.until(",]}#\n")
	}
}

// more moves to the next element of a list or inline table, if there is one before end.
func (f *lineFinder) more(end byte) bool {
	f.blank("\n,")
	return f.pos < len(f.text) && f.peek() != end
}

func (c *cursor) quoted() string {
	start, quote := c.pos, c.text[c.pos:c.pos+1]
	if long := strings.Repeat(quote, 3); strings.HasPrefix(c.text[c.pos:], long) {
		quote = long
	}
	c.pos += len(quote)
	for c.pos < len(c.text) && !strings.HasPrefix(c.text[c.pos:], quote) {
		if quote[0] == '"' && c.peek() == '\\' {
			c.pos++
		}
		c.step()
	}
	c.pos = min(c.pos+len(quote), len(c.text))
	// A long string may end in up to two quotes of its own before the closing three.
	for len(quote) == 3 && c.peek() == quote[0] {
		c.pos++
	}
	return c.text[start:c.pos]
}

// unquote asks the library where there are escapes: TOML's are not Go's.
func unquote(quoted string) string {
	if inner := quoted[1:max(1, len(quoted)-1)]; !strings.ContainsAny(inner, `\"'`) {
		return inner
	}
	var tree map[string]any
	if _, err := toml.Decode(quoted+" = 0", &tree); err != nil {
		return quoted
	}
	for name := range tree {
		return name
	}
	return quoted
}

func (c *cursor) blank(also string) {
	for c.pos < len(c.text) {
		switch b := c.peek(); {
		case b == '#':
			c.until("\n")
		case b == ' ' || b == '\t' || b == '\r' || strings.IndexByte(also, b) >= 0:
			c.step()
		default:
			return
		}
	}
}

func (c *cursor) skip(mark byte) {
	for c.pos < len(c.text) && c.peek() == mark {
		c.pos++
	}
}

// until passes one byte, then all before one of stop. That it always passes one keeps every loop
// finite.
func (c *cursor) until(stop string) string {
	start := c.pos
	c.step()
	for c.pos < len(c.text) && strings.IndexByte(stop, c.peek()) < 0 {
		c.step()
	}
	return c.text[start:c.pos]
}

func (c *cursor) peek() byte {
	if c.pos >= len(c.text) {
		return 0
	}
	return c.text[c.pos]
}

func (c *cursor) step() {
	if c.peek() == '\n' {
		c.line++
	}
	c.pos = min(c.pos+1, len(c.text))
}

func (f *lineFinder) note(path string) {
	if _, ok := f.found[path]; !ok {
		f.found[path] = f.line
	}
}
