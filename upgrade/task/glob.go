package task

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxGlob bounds a glob, in bytes. Names of tools should have at most 128 characters
// (2026-07-28, "Tool Names").
const maxGlob = 256

// Glob names tools: "*" stands for any run of characters, an empty one too, "?" for any
// one, and everything else for itself. Case counts, as it does in names of tools.
type Glob string

// Check says why the glob cannot be meant, without repeating it; nil if it can. What
// other kinds of pattern give a meaning to is refused, since nobody names a tool so:
// taken for itself, it would match nothing and nobody would notice.
func (g Glob) Check() error {
	s := string(g)
	switch {
	case s == "":
		return errors.New("must not be empty")
	case len(s) > maxGlob:
		return fmt.Errorf("must have at most %d bytes, got %d", maxGlob, len(s))
	case !utf8.ValidString(s) || strings.ContainsFunc(s, unicode.IsControl):
		return errors.New("must be text without control characters")
	case strings.ContainsAny(s, `[]{}\`):
		return errors.New(`knows "*" and "?" only: write "?" for a bracket, a brace or a backslash`)
	}
	return nil
}

// Match reports whether the glob names tool. It takes time in proportion to the product
// of both lengths at most.
func (g Glob) Match(tool string) bool { return g.match(tool, "") }

// Covers reports whether every tool that other names is named by g as well. It may miss
// that where other has several stars, but never claims it wrongly.
func (g Glob) Covers(other Glob) bool {
	// A "*" of g takes in whatever other stands for there, but a "?" no "*".
	return g.match(string(other), "*")
}

// match compares text from the left; a "?" takes any character but those of except. Where
// it fails it lets the last "*" take in one byte more: an earlier one could not do better.
// That may cut a character in two, which is no match that would not be one otherwise.
func (g Glob) match(text, except string) bool {
	star, taken := -1, 0
	i, j := 0, 0
	for j < len(text) {
		switch {
		case i < len(g) && g[i] == '*':
			star, taken = i, j
			i++
		case i < len(g) && g[i] == '?' && strings.IndexByte(except, text[j]) < 0:
			_, size := utf8.DecodeRuneInString(text[j:])
			i, j = i+1, j+size
		case i < len(g) && g[i] == text[j]:
			i, j = i+1, j+1
		case star >= 0:
			taken++
			i, j = star+1, taken
		default:
			return false
		}
	}
	return strings.Trim(string(g[i:]), "*") == ""
}
