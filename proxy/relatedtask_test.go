package proxy_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A server may have its client do something as a task, and asks for that by requests and
// notifications that name the task themselves: they should not say to which they belong
// (2025-11-25, tasks, "Associating Task-Related Messages"), and what they say stays.
func TestServersOwnRequestsAboutTasksAreLeftAlone(t *testing.T) {
	for _, meta := range []string{"", `,"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"the client's"}}`} {
		synctest.Test(t, func(t *testing.T) {
			f := newCoreRig(t, rigOptions{}, nil)
			session := f.initialize()
			id, call := f.made(session)
			w := f.awaits(session, id, "")
			messages := []string{
				`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"the server's","status":"working"` + meta + `}}`,
				`{"jsonrpc":"2.0","id":"1","method":"tasks/get","params":{"taskId":"the client's"` + meta + `}}`,
				`{"jsonrpc":"2.0","id":"2","method":"tasks/result","params":{"taskId":"the client's"` + meta + `}}`,
				`{"jsonrpc":"2.0","id":"3","method":"tasks/cancel","params":{"taskId":"the client's"` + meta + `}}`,
				`{"jsonrpc":"2.0","id":"4","method":"tasks/list","params":{"cursor":"c"` + meta + `}}`,
			}
			for _, m := range messages {
				call.say(m)
				time.Sleep(2 * time.Second)
				synctest.Wait()
			}
			w.wants(t, messages...)
			call.ask("5")
			time.Sleep(2 * time.Second)
			synctest.Wait()
			if heard := w.heard(); !strings.Contains(heard[len(heard)-1], related(id)) {
				t.Errorf("heard %s, want it to say to which task it belongs", heard[len(heard)-1])
			}
		})
	}
}

// Nor does berth say it where a task is told of as such, of its own tasks or of an owner's.
func TestStatesOfTasksAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{}, nil)
		session := f.initialize()
		id, _ := f.made(session)
		for _, r := range []reply{f.legacy(session, "tasks/get", byID(id)), f.legacy(session, "tasks/cancel", byID(id))} {
			if r.status != http.StatusOK || strings.Contains(r.body, "related-task") {
				t.Errorf("of its own: %v", r)
			}
		}
		g := newRig(t, rigOptions{size: 1})
		session = g.initialize()
		id = g.newCoreTask(session, 60)
		for _, m := range []string{"", `,` + related("another")} {
			for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/result"} {
				want := `{"jsonrpc":"2.0","id":1,"result":{"taskId":"` + id + `","status":"working","ttl":null ` + m + `}}`
				g.servers[0].inject(onMethod(method, say(jsonType, want)))
				if r := g.legacy(session, method, byID(id)); r.body != want {
					t.Errorf("%s: got %v, want %s", method, r, want)
				}
			}
		}
	})
}
