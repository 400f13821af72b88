package outbound

import (
	"io"
	"strings"
	"testing"

	"berth/internal/wire"
)

// An answer says that there is no such method by these words alone, and can be read afterwards.
func TestPlainWordsOfAMethodThatIsNotThere(t *testing.T) {
	const words = "JSON RPC not handled: \"x/unknown\" unsupported\n"
	for name, tc := range map[string]struct {
		status      int
		media, body string
		want        bool
	}{
		"as Go's SDK says it": {400, "text/plain; charset=utf-8", words, true},
		"another method":      {400, "text/plain", strings.ReplaceAll(words, "x/unknown", "x/other"), false},
		"more words":          {400, "text/plain", "tool failed: " + words, false},
		"other words":         {400, "text/plain", "missing required \"params\"", false},
		"nothing":             {400, "text/plain", "", false},
		"another status":      {404, "text/plain", words, false},
		"a server's fault":    {500, "text/plain", words, false},
		"another type":        {400, "text/html", words, false},
		"no type":             {400, "", words, false},
	} {
		response := wire.Whole(tc.status, []byte(tc.body))
		response.Header.Set("Content-Type", tc.media)
		if got := LacksMethod(response, "x/unknown"); got != tc.want {
			t.Errorf("%s: got %v", name, got)
		}
		if body, err := io.ReadAll(response.Body); err != nil || string(body) != tc.body {
			t.Errorf("%s: %q is left, %v", name, body, err)
		}
	}
}
