package proxy_test

import (
	"context"
	"strings"
	"testing"
)

// An answer is the one that is owed though its id, which some servers tell last, comes behind what is read of a long event.
func TestALongAnswerThatTellsItsIDLastIsTheOneOwed(t *testing.T) {
	long := `"` + strings.Repeat("x", 300<<10) + `"`
	result, failure := `{"result":{"text":`+long+`},"jsonrpc":"2.0","id":1}`, `{"error":{"code":-32000,"message":`+long+`},"jsonrpc":"2.0","id":1}`
	news := `{"params":{"data":` + long + `,"level":"info"},"method":"notifications/message","jsonrpc":"2.0"}`
	for name, c := range map[string]struct {
		sent string
		owed bool
	}{
		"a result":                 {"data: " + result + "\n\n", false},
		"an error":                 {"data: " + failure + "\n\n", false},
		"a result after others":    {"data: " + news + "\n\ndata: " + result + "\n\n", false},
		"something else":           {"data: " + news + "\n\n", true},
		"a result without its end": {"data: " + result[:len(result)-10], true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, rigOptions{tcp: true, size: 1})
			f.servers[0].inject(streams(func(_ context.Context, write func(string)) { write(c.sent) }))
			got := f.do(f.call("modern"))
			told, refused := strings.HasPrefix(got.body, c.sent), strings.Contains(got.body, "upstream_reset")
			if got.status != 200 || !told || refused != c.owed {
				t.Errorf("status %d, %d of %d bytes, told: %v, an error behind it: %v, want %v", got.status, len(got.body), len(c.sent), told, refused, c.owed)
			}
		})
	}
}
