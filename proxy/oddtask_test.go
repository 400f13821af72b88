package proxy_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"berth/proxy"
)

// A handle whose id berth would refuse in each poll would be a task that nobody hears of again: its client is told at once, the server
// gives the task up, and the operator can see whose fault it is.
func TestATaskThatNobodyCouldAskForIsNotHandedOut(t *testing.T) {
	for name, id := range map[string]string{"too long": strings.Repeat("x", 257), "tab": "a\tb", "C1": "a\u0085b"} {
		for _, stream := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					logs := new(lines)
					f := newRig(t, rigOptions{size: 1, options: func(o *proxy.Options) { o.Logger = slog.New(slog.NewJSONHandler(logs, nil)) }})
					quoted, _ := json.Marshal(id)
					modern := `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":` + string(quoted) + `,"status":"working","ttlMs":60000}}`
					core := `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":` + string(quoted) + `,"status":"working","ttl":60000}}}`
					hands := func(message string) faultFunc {
						if stream {
							return say(eventsType, "data: "+message+"\n\n")
						}
						return say(jsonType, message)
					}
					cancelled := 0
					f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
						switch {
						case methodIn(body) == "tasks/cancel":
							cancelled++
							return sayResult(`{}`)(w, r, body)
						case methodIn(body) != "tools/call":
							return false
						case strings.Contains(string(body), "2025-11-25"), r.Header.Get("Mcp-Session-Id") != "":
							return hands(core)(w, r, body)
						}
						return hands(modern)(w, r, body)
					})
					want := map[bool]int{false: http.StatusBadGateway, true: http.StatusOK}[stream] // a stream has begun
					for _, r := range []reply{f.modern("tools/call", "slow_compute", slowCompute(60)), f.legacy(f.initialize(), "tools/call", slowCompute(60)+`,"task":{}`)} {
						if r.status != want || !strings.Contains(r.body, `"code":-32603`) || !strings.Contains(r.body, `"reason":"bad_upstream_response","retryable":false,"mayHaveExecuted":true`) {
							t.Errorf("got %v", r)
						}
					}
					synctest.Wait()
					if cancelled != 2 {
						t.Errorf("%d tasks were given up", cancelled)
					}
					if log := logs.String(); strings.Count(log, `"level":"WARN","msg":"an upstream gave out a task id that is too long, or holds control characters"`) != 2 || !strings.Contains(log, `"upstream":"a"`) {
						t.Errorf("the log says %s", log)
					}
				})
			})
		}
	}
}
