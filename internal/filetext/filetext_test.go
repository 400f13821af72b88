package filetext

import "testing"

func TestMarkIsNoPartOfAText(t *testing.T) {
	for content, want := range map[string]string{"\ufeffa b\n": "a b", " a\ufeff": "a\ufeff", "\ufeff": "", "": "", "\n\ufeffa": "\ufeffa"} {
		if got := Word([]byte(content)); got != want {
			t.Errorf("%q: got %q, want %q", content, got, want)
		}
	}
}
