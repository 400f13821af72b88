package proxy_test

import (
	"context"
	"net/http"
	"slices"
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

// So it is where several are owed, to a batch: each is told once.
func TestALongAnswerToABatchThatTellsItsIDLastIsTheOneOwed(t *testing.T) {
	long := strings.Repeat("x", 300<<10)
	last := func(id, fields string) string {
		return `data: {"result":{"text":"` + long + `,\"id\":8","id":8},` + id + "}\n" + fields + "\n"
	}
	short := `data: {"jsonrpc":"2.0","id":7,"result":{}}` + "\n\n"
	for name, c := range map[string]struct {
		sent    string
		refused []string
	}{
		"it is the last member":      {last(`"jsonrpc":"2.0","id":"8"`, "") + short, nil},
		"it is the last but one":     {last(`"id" : "8" , "jsonrpc":"2.0"`, "") + short, nil},
		"fields behind it":           {last(`"jsonrpc":"2.0","id":"8"`, "id: {,\"id\":7}\nevent: message\n") + short, nil},
		"two of them":                {last(`"jsonrpc":"2.0","id":"8"`, "") + last(`"jsonrpc":"2.0","id":7`, ""), nil},
		"the other one never comes":  {last(`"jsonrpc":"2.0","id":"8"`, ""), []string{"7"}},
		"nobody's":                   {last(`"jsonrpc":"2.0","id":9`, "") + short, []string{`"8"`}},
		"no response to be told by":  {last(`"jsonrpc":"2.0"`, "") + short, []string{`"8"`}},
		"it breaks off in the event": {strings.TrimSuffix(last(`"jsonrpc":"2.0","id":"8"`, ""), "}\n\n"), []string{"7", `"8"`}},
	} {
		t.Run(name, func(t *testing.T) {
			f := newRig(t, rigOptions{tcp: true, size: 1})
			f.servers[0].inject(streams(func(_ context.Context, write func(string)) { write(c.sent) }))
			got := f.do(f.request(t.Context(), http.MethodPost, aBatch, "MCP-Protocol-Version", "2025-03-26"))
			if refused := refusedIn(got); got.status != 200 || !strings.HasPrefix(got.body, c.sent) || !slices.Equal(refused, c.refused) {
				t.Errorf("status %d, %d of %d bytes, refused %v, want %v", got.status, len(got.body), len(c.sent), refused, c.refused)
			}
		})
	}
}

// aBatch are two calls, 7 and "8".
const aBatch = `[{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"x"}},{"jsonrpc":"2.0","id":"8","method":"tools/call","params":{"name":"x"}}]`

// refusedIn are the ids of the errors of berth's own in an event stream, raw.
func refusedIn(r reply) (ids []string) {
	for _, event := range eventsIn(r.body) {
		if _, id, ok := strings.Cut(event, `"jsonrpc":"2.0","id":`); ok && strings.Contains(event, "upstream_reset") {
			id, _, _ = strings.Cut(id, ",")
			ids = append(ids, id)
		}
	}
	return ids
}
