package verbs

import (
	"strings"
	"testing"

	"berth/internal/api"
	"berth/internal/drain"
)

// What servers and clients worded steers no terminal, whichever verb tells it; as JSON it is what it is.
func TestNothingThatIsToldSteersATerminal(t *testing.T) {
	const odd = "t\u202eD\u2066O\u200bP\u2028X\ufeffY\U000e0041Z\x1b[2J"
	status := api.MayStop{Pool: "p", Name: "a", URL: "http://a/" + odd, Items: []drain.Item{{Kind: "task", ID: odd, Tool: odd, Caller: odd}}}
	d := &double{answers: map[string]any{
		"GET /v1/upstreams/p/a":    api.Upstream{MayStop: status, Partial: odd},
		"GET /v1/upstreams":        api.Upstreams{Partial: odd, Upstreams: []api.Upstream{{MayStop: status}}},
		"GET /v1/troubles/orphans": api.Events{Events: []api.Event{{What: "holder_lost", ID: odd}}},
		"GET /v1/tasks/t":          api.TaskDetail{Task: api.Task{ID: odd, State: "failed", Message: odd}},
	}}
	for _, line := range []string{"upstreams p/a", "upstreams", "troubles orphans", "tasks show t"} {
		out, code := d.runs(t, "", strings.Fields(line)...)
		if code != 0 || !strings.Contains(out, "t?D?O?P?X?Y?Z?[2J") || strings.ContainsAny(out, odd[1:4]+"\u2066\u200b\u2028\ufeff\U000e0041\x1b") {
			t.Errorf("%s: got %d, %q", line, code, out)
		}
	}
	if out, _ := d.runs(t, "", "upstreams", "--json", "p/a"); !strings.Contains(out, "t\u202eD") {
		t.Errorf("as JSON: got %q", out)
	}
}
