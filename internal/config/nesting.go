package config

import "fmt"

// maxNesting bounds how deep tables and lists stand in each other. What the TOML library takes for a
// level grows with the levels around it; no key of berth's is in more than six.
const maxNesting = 32

// nestingFault is what is wrong with text that nests too deep for the TOML library to be given it. A
// text that is not TOML may have more levels than are found here only behind its first error, where the
// library stops.
func nestingFault(name, text string) (fault Fault, found bool) {
	n := nesting{cursor: newCursor(text), naming: true}
	for n.pos < len(n.text) && n.level <= maxNesting {
		n.pass()
	}
	if n.level <= maxNesting {
		return Fault{}, false
	}
	return Fault{File: name, Line: n.line, Message: fmt.Sprintf("nests deeper than %d levels of tables, lists and dotted keys", maxNesting)}, true
}

// nesting counts the levels around what it passes: of a key the names before its last, and of a value
// the tables and lists.
type nesting struct {
	cursor
	level  int
	naming bool    // in the names of a key, whose dots are levels
	table  int     // the level that the last [header] opened
	open   []inner // for each bracket that was not closed yet
}

// inner is what a comma returns to.
type inner struct {
	level int
	table bool // keys follow, as in {}
}

func (n *nesting) pass() {
	switch n.peek() {
	case '"', '\'':
		n.quoted()
		return
	case '#':
		n.until("\n")
		return
	case '[', '{':
		n.enter()
		return
	case ']', '}':
		n.leave()
	case ',':
		n.next()
	case '.':
		if n.naming {
			n.level++
		}
	case '=':
		n.naming = false
	case '\n':
		if len(n.open) == 0 {
			n.level, n.naming = n.table, true
		}
	}
	n.step()
}

func (n *nesting) enter() {
	if n.naming && len(n.open) == 0 {
		n.header()
		return
	}
	table := n.peek() == '{'
	n.level++
	n.naming = table
	n.open = append(n.open, inner{n.level, table})
	n.step()
}

// header passes [a.b] or [[a.b]], and leaves its last bracket.
func (n *nesting) header() {
	n.level = 1
	for n.skip('['); n.pos < len(n.text) && n.level <= maxNesting; {
		switch n.peek() {
		case '"', '\'':
			n.quoted()
			continue
		case ']', '\n':
			n.table, n.naming = n.level, false
			return
		case '.':
			n.level++
		}
		n.step()
	}
}

// leave closes a bracket: a comma follows, another bracket or the end of the line.
func (n *nesting) leave() { n.open = n.open[:max(0, len(n.open)-1)] }

// next goes on to the next element of what is open.
func (n *nesting) next() {
	if last := len(n.open) - 1; last >= 0 {
		n.level, n.naming = n.open[last].level, n.open[last].table
	}
}
