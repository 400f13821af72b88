package stdio

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReplacedLeavesEveryOtherByte(t *testing.T) {
	for _, tc := range []struct{ message, want string }{
		{`{"a": {"b" : 1 , "c":2}}`, `{"a": {"b" : 9 , "c":2}}`},
		{`{"x":{"b":3},"a":{"x":[1,{"b":2}],"b":"two"}}`, `{"x":{"b":3},"a":{"x":[1,{"b":2}],"b":9}}`},
		{`{"a":{"b":1,"b":2}}`, `{"a":{"b":9,"b":2}}`},
		{`{"a":{"c":1}}`, `{"a":{"c":1}}`},
		{`{"a":1}`, `{"a":1}`},
		{`[{"a":{"b":1}}]`, `[{"a":{"b":1}}]`},
		{`{"a":{"b":`, `{"a":{"b":`},
		{"", ""},
	} {
		if got := string(replaced([]byte(tc.message), []byte("9"), "a", "b")); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.message, got, tc.want)
		}
	}
}

func FuzzReplaced(f *testing.F) {
	f.Add(`{"a":{"b":1}}`)
	f.Add(`{"a" : {"c":[{}], "b":"\u00e9"}, "a":2}`)
	f.Fuzz(func(t *testing.T, message string) {
		got := replaced([]byte(message), []byte(`"it"`), "a", "b")
		if json.Valid([]byte(message)) && !json.Valid(got) {
			t.Errorf("%q became %q", message, got)
		}
		if from, to, ok := find(got, []string{"a", "b"}); ok && json.Valid([]byte(message)) && string(got[from:to]) != `"it"` {
			t.Errorf("%q became %q", message, got)
		}
		if strings.ContainsAny(string(oneLine([]byte(message))), "\r\n") && json.Valid([]byte(message)) {
			t.Errorf("%q stays on several lines", message)
		}
	})
}
