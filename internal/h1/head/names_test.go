package head

import (
	"strings"
	"testing"

	"berth/internal/wire"
)

// What is found at a glance is what would be found letter by letter.
func TestUsualNamesAreThoseThatTheyAre(t *testing.T) {
	names := spellings
	for _, name := range wire.UsualNames() {
		names = append(names, name)
	}
	for _, name := range names {
		for _, spelling := range []string{name, strings.ToLower(name)} {
			letters := []byte(spelling + ": x")
			end := canonicalize(letters)
			got, at := usualName([]byte(spelling + ": x"))
			if got == nil || got.name != string(letters[:end]) || at != end || got.name != wire.CanonicalName(spelling) || got.number != wire.UsualOf(got.name) {
				t.Errorf("%s: got %v, %d, want %q, %d", spelling, got, at, letters[:end], end)
			}
		}
	}
}

func TestOtherNamesAreNotUsual(t *testing.T) {
	for _, line := range []string{"", ":", "x", "host", " host: x", "Host : x", "hOST: x", "Content_Length: 1", "Content-Length\t: 1", "X-Other: host: x"} {
		if got, at := usualName([]byte(line)); got != nil || at != 0 {
			t.Errorf("%q: got %v, %d", line, got, at)
		}
	}
}
