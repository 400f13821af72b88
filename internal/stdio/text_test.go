package stdio

import (
	"encoding/json"
	"strings"
	"testing"
)

func FuzzOneLine(f *testing.F) {
	f.Add("{\r\n\"a\":\n\"\\n\"}")
	f.Add("{\n")
	f.Fuzz(func(t *testing.T, message string) {
		got := oneLine([]byte(message))
		switch {
		case !json.Valid([]byte(message)):
			if string(got) != message {
				t.Errorf("%q became %q", message, got)
			}
		case !json.Valid(got), strings.ContainsAny(string(got), "\r\n"):
			t.Errorf("%q became %q", message, got)
		}
	})
}
