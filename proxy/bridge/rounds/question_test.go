package rounds

import "testing"

// Questions whose ids differ are shown under keys that differ.
func TestKeysOfQuestions(t *testing.T) {
	for id, want := range map[string]string{`7`: "ask-7", `"7"`: `ask-"7"`, `"e-7"`: "ask-e-7", `"a\u0062"`: "ask-ab", `1.0`: "ask-1", `"-1"`: `ask-"-1"`, `"true"`: `ask-"true"`} {
		if got := KeyOf([]byte(id)); got != want {
			t.Errorf("%s: got %s, want %s", id, got, want)
		}
	}
}
