package proxy_test

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"
)

// An error in place of a task's result may be what came of it: nobody fetches more then, and a drain does not wait for its ttl.
func TestATaskWhoseResultIsAnErrorIsNotWaitedForUntilItsTTL(t *testing.T) {
	status := func(id, status string) string {
		return `{"jsonrpc":"2.0","id":ID,"result":{"taskId":"` + id + `","status":"` + status + `","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":3600000}}`
	}
	for what, c := range map[string]struct {
		code   int // of HTTP
		error  string
		before string // what tasks/get says before; "": nobody asks
		after  string // and after
		want   int    // tasks that count at once
		later  int    // and in three minutes
	}{
		"the call's own":              {code: 200, error: "-32050", want: 1, later: 0},
		"of one known to have failed": {code: 200, error: "-32602", before: "failed", want: 0, later: 0},
		"of one that works":           {code: 200, error: "-32603", after: "working", want: 1, later: 1},
		"about an unknown task":       {code: 200, error: "-32602", want: 1, later: 1},
		"of a server that is busy":    {code: 200, error: "-31503", want: 1, later: 1},
		"about credentials":           {code: 401, error: "-32001", want: 1, later: 1},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{size: 1})
				wants := func(when string, want int) {
					t.Helper()
					synctest.Wait()
					if owned, err := f.bindings.Owned(t.Context(), "p", "a"); err != nil || owned.Tasks != want {
						t.Errorf("%s %d tasks count as the instance's, %v, want %d", when, owned.Tasks, err, want)
					}
				}
				core := f.legacy("", "tools/call", slowCompute(3600)+`,"task":{"ttl":3600000}`).message(t).Result.Task.TaskID
				get := c.before
				f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					if methodIn(body) == "tasks/get" {
						return say(jsonType, withID(status(core, get), body))(w, r, body)
					}
					return sayStatus(c.code, jsonType, withID(`{"jsonrpc":"2.0","id":ID,"error":{"code":`+c.error+`,"message":"no"}}`, body))(w, r, body)
				})
				if get != "" {
					f.legacy("", "tasks/get", byID(core))
				}
				f.legacy("", "tasks/result", byID(core))
				wants("at once", c.want)
				if get = c.after; get != "" {
					f.legacy("", "tasks/get", byID(core))
				}
				time.Sleep(3 * time.Minute)
				wants("in three minutes", c.later)
			})
		})
	}
}
