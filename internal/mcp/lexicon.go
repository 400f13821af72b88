package mcp

import "slices"

// lexicon is a set of words, by their length.
type lexicon [64][]string

func lexiconOf(words ...string) (l lexicon) {
	for _, w := range words {
		l[len(w)] = append(l[len(w)], w)
	}
	return l
}

// of returns the word that b is, "" if there is none.
func (l *lexicon) of(b []byte) string {
	if len(b) < len(l) {
		for _, w := range l[len(b)] {
			if string(b) == w {
				return w
			}
		}
	}
	return ""
}

func (l *lexicon) has(s string) bool { return len(s) < len(l) && slices.Contains(l[len(s)], s) }

// words are strings that stand in most messages.
var words = lexiconOf(slices.Concat(knownMethods, legacyVersions, []string{
	MethodTaskStatus, NotificationTask, MethodLog, MethodUpdated,
	"complete", "task", ResultInputRequired, "working", "completed", "failed", "cancelled", "submitted",
	versionModern,
})...)

// word returns b as a string, without a copy where it is one of words.
func word(b []byte) string {
	if w := words.of(b); w != "" {
		return w
	}
	return string(b)
}
