package mcp

import "testing"

func TestEqualIDsHaveOneKey(t *testing.T) {
	for raw, want := range map[string]string{
		`"a\/b"`:                `"a/b"`,
		`"a/b"`:                 `"a/b"`,
		`"\u00e9"`:              `"é"`,
		`"\ud83d\ude00"`:        `"😀"`,
		`"1"`:                   `"1"`,
		`"1.0"`:                 `"1.0"`,
		`"\ud800"`:              `"\ud800"`,
		`1`:                     `1`,
		`0`:                     `0`,
		`-0`:                    `0`,
		`1.0`:                   `1`,
		`1e2`:                   `100`,
		`-7`:                    `-7`,
		`1.5`:                   `1.5`,
		`9007199254740993`:      `9007199254740993`,
		`123456789012345678901`: `123456789012345678901`,
		``:                      ``,
	} {
		if got := IDKey([]byte(raw)); got != want {
			t.Errorf("%s: got %s, want %s", raw, got, want)
		}
	}
}

// Ids are compared as what they are: a string is no number, however alike they look.
func TestIDsAreComparedAsWhatTheyAre(t *testing.T) {
	for _, c := range []struct {
		message, id     string
		answers, nobody bool
	}{
		{`{"id":1,"result":{}}`, `1`, true, false},
		{`{"id":1.0,"result":{}}`, `1`, true, false},
		{`{"id":"1","result":{}}`, `1`, false, false},
		{`{"id":1,"result":{}}`, `"1"`, false, false},
		{`{"id":2,"error":{"code":1,"message":""}}`, `1`, false, false},
		{`{"id":"a\/b","error":{"code":1,"message":""}}`, `"a/b"`, true, false},
		{`{"id":null,"error":{"code":1,"message":""}}`, `1`, false, true},
		{`{"error":{"code":1,"message":""}}`, `1`, false, true},
		{`{"id":null,"result":{}}`, `1`, false, false},
		{`{"result":{}}`, `1`, false, false},
		{`{"id":1,"method":"ping"}`, `1`, false, false},
		{`{"method":"notifications/x"}`, `1`, false, false},
	} {
		a, err := PeekAnswer([]byte(c.message), false)
		if err != nil {
			t.Fatal(err)
		}
		if a.Answers([]byte(c.id)) != c.answers || a.IsNobodys() != c.nobody {
			t.Errorf("%s to %s: answers %v, nobody's %v", c.message, c.id, a.Answers([]byte(c.id)), a.IsNobodys())
		}
	}
}
