package mcp

import "testing"

func TestIDKey(t *testing.T) {
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
