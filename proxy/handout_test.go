package proxy_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade"
)

// A handle does not leave before it is durable that it does: another berth goes on with
// what was not sent, if its client has the handle.
func TestHandleLeavesOnceThatIsDurable(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*upgrade.Rule)
		core   bool
		header []string
	}{
		"at once":                    {change: withoutGrace},
		"queued, at once":            {change: func(r *upgrade.Rule) { withoutGrace(r); r.Concurrency = 1 }},
		"queued, after the grace":    {change: func(r *upgrade.Rule) { withGrace(r); r.Concurrency = 1 }},
		"queued, while one waits":    {change: func(r *upgrade.Rule) { r.After, r.Concurrency = time.Second, 1 }},
		"queued, with a key":         {change: func(r *upgrade.Rule) { withGrace(r); r.Concurrency = 1 }, header: []string{key, "k"}},
		"queued, with a key at once": {change: func(r *upgrade.Rule) { withoutGrace(r); r.Concurrency = 1 }, header: []string{key, "k"}},
		"queued, asked for":          {change: func(r *upgrade.Rule) { withGrace(r); r.Concurrency = 1 }, core: true},
		"queued, asked for, at once": {change: func(r *upgrade.Rule) { withoutGrace(r); r.Concurrency = 1 }, core: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var f *upgraded
				handles := 0
				o := rigOptions{wrap: watchWrites(func(p []byte) {
					id := handleIn(p)
					if id == "" {
						return
					}
					handles++
					asker := upgrade.Asker{Pool: f.pool.Name()}
					if task, err := f.tasks.Reader.Peek(context.Background(), id, asker); err != nil || !task.Handed {
						t.Errorf("handle %d left while the record says handed %v, %v", handles, task.Handed, err)
					}
				})}
				f = newUpgraded(t, o, c.change)
				f.answers(sayNothing)
				call := func() { f.callTool(c.header...) }
				if c.core {
					session := f.initialize()
					call = func() {
						f.do(f.request(t.Context(), http.MethodPost, message("tools/call", work), append(legacyHeader(session), c.header...)...))
					}
				}
				if c.header == nil {
					call()
				} else {
					f.callTool() // has the place
				}
				call()
				if handles != 2 {
					t.Errorf("%d handles left, want 2", handles)
				}
			})
		})
	}
}

// handleIn is the task that a message to a client hands out, "" if it hands none out.
func handleIn(p []byte) string {
	var m struct {
		Result struct {
			TaskID string
			Task   struct{ TaskID string }
		}
	}
	text := strings.TrimPrefix(strings.TrimSpace(string(p)), "data: ")
	if json.Unmarshal([]byte(text), &m) != nil {
		return ""
	}
	return m.Result.TaskID + m.Result.Task.TaskID
}
