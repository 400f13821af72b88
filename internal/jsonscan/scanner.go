package jsonscan

import (
	"errors"
	"fmt"
	"io"
)

// SyntaxError is the place of the first byte that no JSON has there.
type SyntaxError int

func (e SyntaxError) Error() string { return fmt.Sprintf("jsonscan: no JSON at byte %d", int(e)) }

// Why a text is not read that is no wrong JSON.
var (
	ErrDepth    = errors.New("jsonscan: nested too deeply")
	ErrTrailing = errors.New("jsonscan: data after the JSON value")
)

// maxDepth is how deeply objects and arrays may nest, as in encoding/json.
const maxDepth = 10_000

// Scanner stands in a text, before a value, a member or an element. Its zero value is an empty text's. After a fault
// it does not move any further, and tells of nothing.
type Scanner struct {
	text  []byte
	at    int
	depth int
	name  extent // of the last one
	more  bool   // something stands before in the object or array that is open
	last  marks
	all   marks
	fault error
}

// extent is a part of a text.
type extent struct{ from, to int }

// New returns a scanner before the one value in text.
func New(text []byte) Scanner { return Scanner{text: text} }

// Over has s, which is zero, be what New returns.
func (s *Scanner) Over(text []byte) { s.text = text }

// Text is what the scanner walks.
func (s *Scanner) Text() []byte { return s.text }

// At is where the scanner stands: behind what was read last, or at the next value once Kind has looked at it.
func (s *Scanner) At() int { return s.at }

// Again passes over text, if that stands next: a scanner that stood alike has read it before, up to behind a value, and it
// is ASCII. Where it does not stand next, a scanner that has not moved is as it was.
func (s *Scanner) Again(text string) bool {
	if s.fault != nil || len(s.text)-s.at < len(text) || string(s.text[s.at:s.at+len(text)]) != text {
		return false
	}
	s.at += len(text)
	s.more = true
	return true
}

// Into is Again up to before a value, which stands in so many objects and arrays.
func (s *Scanner) Into(text string, depth int) bool {
	if !s.Again(text) {
		return false
	}
	s.depth = depth
	return true
}

// Depth is how many objects and arrays are open.
func (s *Scanner) Depth() int { return s.depth }

// IsPlain reports whether the name or the string that was passed over last is ASCII without a backslash, and so what it means.
// Of any other value it is that of all strings in it.
func (s *Scanner) IsPlain() bool { return s.last == 0 }

// IsASCII reports whether nothing beyond ASCII was passed over.
func (s *Scanner) IsASCII() bool { return s.all&highs == 0 }

// Err is why the text cannot be read any further; nil while it can. It is io.ErrUnexpectedEOF where the text just ends.
func (s *Scanner) Err() error { return s.fault }

// Fail has the scanner stop for a reason of its caller's, whatever it has come to itself.
func (s *Scanner) Fail(reason error) { s.fault = reason }

// Kind is the first byte of the value that comes next: '{', '[', '"', 't', 'f', 'n', or '0' for all numbers; 0 after a fault,
// and another one where no value begins.
func (s *Scanner) Kind() byte {
	if s.fault != nil || !s.skipBlank() {
		return 0
	}
	return kindOf(s.text[s.at])
}

func kindOf(first byte) byte {
	if first == '-' || first-'0' < 10 {
		return '0'
	}
	return first
}

// Value passes over the value that comes next, and returns it; nil after a fault.
func (s *Scanner) Value() []byte {
	if s.fault != nil || !s.skipBlank() {
		return nil
	}
	text, from := s.text, s.at
	var end int
	var odd marks
	switch c := text[from]; {
	case c == '"':
		end, odd = skipString(text, from)
	case c-'0' <= 9:
		end = skipNumber(text, from)
	default:
		end, odd = skip(text, from, maxDepth-s.depth)
	}
	if !s.to(end, odd) {
		return nil
	}
	s.more = true
	return text[from:end:end]
}

// Open enters the object ('{') or array ('[') that comes next. What is no such is a fault.
func (s *Scanner) Open(bracket byte) bool {
	switch {
	case s.fault != nil || !s.skipBlank():
		return false
	case s.text[s.at] != bracket:
		s.fault = SyntaxError(s.at)
		return false
	case s.depth == maxDepth:
		s.fault = ErrDepth
		return false
	}
	s.at++
	s.depth++
	s.more = false
	return true
}

// Name steps over the name of the next member of the open object and returns it, in its quotes; ok is false
// where the object has ended, which leaves it, and after a fault. A name whose value cannot be read is still told.
func (s *Scanner) Name() (name []byte, ok bool) {
	text, from := s.text, s.at
	if s.more {
		from++ // nearly always a name stands right behind a comma
	}
	if s.fault != nil || from >= len(text) || text[from] != '"' || s.more && text[from-1] != ',' {
		if !s.nextName() {
			return nil, false
		}
		from = s.at
	}
	if !s.to(skipString(text, from)) {
		return nil, false
	}
	end := s.at
	s.name = extent{from, end}
	if end < len(text) && text[end] == ':' {
		s.at++
	} else {
		s.skipColon()
	}
	return text[from:end:end], true
}

// nextName steps to the quote that a name begins with.
func (s *Scanner) nextName() bool {
	if !s.next('}') {
		return false
	}
	if s.text[s.at] != '"' {
		s.fault = SyntaxError(s.at)
		return false
	}
	return true
}

func (s *Scanner) skipColon() {
	if !s.skipBlank() {
		return
	}
	if s.text[s.at] == ':' {
		s.at++
	} else {
		s.fault = SyntaxError(s.at)
	}
}

// to has the scanner stand where something ends, if that is no fault.
func (s *Scanner) to(end int, odd marks) bool {
	s.last = odd
	s.all |= odd
	if end < 0 {
		s.fault = faultOf(end, s.text)
		return false
	}
	s.at = end
	return true
}

// Element steps to the next element of the open array, which is then read as any value; false where the array has ended,
// which leaves it, and after a fault.
func (s *Scanner) Element() bool { return s.next(']') }

// next steps over a comma, where there has to be one, or out of what bracket closes.
func (s *Scanner) next(bracket byte) bool {
	if s.fault != nil || !s.skipBlank() {
		return false
	}
	switch c := s.text[s.at]; {
	case c == bracket:
		s.at++
		s.depth--
		s.more = true
		return false
	case !s.more:
		return true
	case c != ',':
		s.fault = SyntaxError(s.at)
		return false
	}
	s.at++
	if !s.skipBlank() {
		return false
	}
	if s.text[s.at] == bracket {
		s.fault = SyntaxError(s.at)
		return false
	}
	return true
}

// End reports whether nothing stands behind the value but blanks, and nothing was wrong before. Anything else there is a
// fault, ErrTrailing.
func (s *Scanner) End() bool {
	if s.fault != nil {
		return false
	}
	if s.at = blank(s.text, s.at); s.at < len(s.text) {
		s.fault = ErrTrailing
	}
	return s.fault == nil
}

// skipBlank reports whether something follows, and takes it for a fault if nothing does.
func (s *Scanner) skipBlank() bool {
	return s.at < len(s.text) && s.text[s.at] > ' ' || s.skipBlanks()
}

func (s *Scanner) skipBlanks() bool {
	if s.at = endOfBlanks(s.text, s.at); s.at == len(s.text) {
		s.fault = io.ErrUnexpectedEOF
		return false
	}
	return true
}
