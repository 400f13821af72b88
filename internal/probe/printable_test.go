package probe

import (
	"net/http"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// FuzzPrintable: whatever a server says of itself, a terminal is shown one short line.
func FuzzPrintable(f *testing.F) {
	for _, text := range []string{"", "plain", "\x1b[2Jx\r\nHTTP", "a\u202eb", "\xff\xfe", strings.Repeat("…", 300)} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const length = 40
		got := printable(text, length)
		if !utf8.ValidString(got) || utf8.RuneCountInString(got) > length+1 {
			t.Fatalf("got %q, want at most %d runes", got, length)
		}
		for _, r := range got {
			if !unicode.IsPrint(r) {
				t.Fatalf("got %q with %U", got, r)
			}
		}
	})
}

func TestSecretsAreBlotted(t *testing.T) {
	s := secretsOf(http.Header{"Authorization": {"Bearer canary-token"}, "X-User": {"al"}}, nil)
	got := s.blot("no Bearer canary-token, no canary-token for al")
	if want := "no ***, no *** for al"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
