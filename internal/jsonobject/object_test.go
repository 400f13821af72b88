package jsonobject

import (
	"encoding/json"
	"testing"
)

func TestReplaceLeavesEveryOtherByte(t *testing.T) {
	for _, tc := range []struct{ message, want string }{
		{`{"a": {"b" : 1 , "c":2}}`, `{"a": {"b" : 9 , "c":2}}`},
		{`{"x":{"b":3},"a":{"x":[1,{"b":2}],"b":"two"}}`, `{"x":{"b":3},"a":{"x":[1,{"b":2}],"b":9}}`},
		{`{"a":{"c":1}}`, `{"a":{"c":1}}`},
		{`{"a":1}`, `{"a":1}`},
		{`[{"a":{"b":1}}]`, `[{"a":{"b":1}}]`},
		{`{"a":{"b":`, `{"a":{"b":`},
		{"", ""},
	} {
		if got := string(Replace([]byte(tc.message), []byte("9"), "a", "b")); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.message, got, tc.want)
		}
	}
}

func FuzzReplace(f *testing.F) {
	f.Add(`{"a":{"b":1}}`)
	f.Add(`{"a" : {"c":[{}], "b":"\u00e9"}, "a":2}`)
	f.Fuzz(func(t *testing.T, message string) {
		got := Replace([]byte(message), []byte(`"it"`), "a", "b")
		if !json.Valid([]byte(message)) {
			return
		}
		if value := At(got, "a", "b"); !json.Valid(got) || value != nil && string(value) != `"it"` {
			t.Errorf("%q became %q", message, got)
		}
	})
}
