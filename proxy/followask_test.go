package proxy_test

import (
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/upgrade"
)

// theirState is how the upstream's task is: it asks, until something else is said.
type theirState struct {
	asking string // members of inputRequests
	says   atomic.Pointer[string]
	polled atomic.Int64 // since it says that
}

// tell answers a tasks/get.
func (s *theirState) tell(w http.ResponseWriter, r *http.Request, body []byte) bool {
	s.polled.Add(1)
	if says := s.says.Load(); says != nil {
		return sayResult(*says)(w, r, body)
	}
	return sayResult(asksFor(s.asking))(w, r, body)
}

func (s *theirState) becomes(says string) {
	s.says.Store(&says)
	s.polled.Store(0)
}

// take answers a tasks/update; with the n-th the task is completed, a moment after it still shows what it asked.
func (s *theirState) take(n int64) faultFunc {
	var updates atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if updates.Add(1) == n {
			time.AfterFunc(time.Second, func() { s.becomes(theirs("completed", `,"result":`+done)) })
		}
		return sayResult(`{"resultType":"complete"}`)(w, r, body)
	}
}

func asksFor(members string) string {
	return theirs("input_required", `,"inputRequests":{`+members+`}`)
}

func form(key, says string) string {
	return `"` + key + `":{"method":"elicitation/create","params":{"message":"` + says + `"}}`
}

// A server's task that asks may end without an answer: nobody waits for the client then, nor for its poll.
func TestFollowedTaskEndsWithoutItsAnswer(t *testing.T) {
	const failure = `{"code":-32603,"message":"nobody answered"}`
	for name, c := range map[string]struct{ says, status, outcome string }{
		"completed": {theirs("completed", `,"result":`+done), "completed", done},
		"failed":    {theirs("failed", `,"error":`+failure), "failed", failure},
		"cancelled": {theirs("cancelled", ""), "cancelled", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				server := theirState{asking: form("k", "?")}
				f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/get": server.tell})
				id := f.made("Authorization", "Bearer one")
				f.reaches(id, "input_required", "Authorization", "Bearer one")
				time.Sleep(time.Hour / 4)
				server.becomes(c.says)
				f.reachesBy(id, c.status, time.Now().Add(11*time.Second))
				if v := f.look(id, "Authorization", "Bearer one"); string(v.Result)+string(v.Error) != c.outcome {
					t.Errorf("got %s %s", v.Result, v.Error)
				}
				if n := len(f.seen.of("tasks/update")) + len(f.seen.of("tasks/cancel")); n != 0 {
					t.Errorf("the server was sent %d updates and cancels", n)
				}
				for _, poll := range f.seen.of("tasks/get") {
					if poll.header.Get("Authorization") != "Bearer one" {
						t.Errorf("polled with %v", poll.header)
					}
				}
			})
		})
	}
}

// What the server's task asks is what the client is asked: with what is asked beside it, without what is not any more. A question that
// stands keeps its key, and an answer that was given.
func TestFollowedTaskAsksSomethingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		server := theirState{asking: form("a", "?")}
		f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/get": server.tell, "tasks/update": server.take(1)})
		id := f.made("Authorization", "Bearer one")
		f.reaches(id, "input_required", "Authorization", "Bearer one")
		shows := func(says string, want ...string) {
			t.Helper()
			server.becomes(says)
			f.reachesBy(id, "input_required", time.Now().Add(11*time.Second))
			v := f.look(id, "Authorization", "Bearer one")
			if got := slices.Sorted(maps.Keys(v.InputRequests)); !slices.Equal(got, want) {
				t.Errorf("of %s the client is shown %q, want %q", says, got, want)
			}
		}
		shows(asksFor(form("a", "?")+", "+form("b", "and?")), "a", "b")
		f.answer(id, `{"b":{"action":"accept"}}`, "Authorization", "Bearer one")
		shows(asksFor(form("b", "and?")+","+form("c", "or?")+","+strings.ReplaceAll(form("a", "?"), ":", " : ")), "a", "c")
		shows(asksFor(form("b", "and?")+","+form("c", "or?")), "c")
		shows(asksFor(form("b", "and?")+","+form("c", "or not?")), "c")
		if n := len(f.seen.of("tasks/update")); n != 0 {
			t.Errorf("the server was sent %d updates", n)
		}
		f.answer(id, `{"c":{"action":"decline"}}`, "Authorization", "Bearer one")
		f.reaches(id, "completed", "Authorization", "Bearer one")
		updates := f.seen.of("tasks/update")
		if len(updates) != 1 || len(updates[0].msg.Params.InputResponses) != 2 || string(updates[0].msg.Params.InputResponses["b"]) != `{"action":"accept"}` ||
			string(updates[0].msg.Params.InputResponses["c"]) != `{"action":"decline"}` {
			t.Errorf("the server was sent %v", updates)
		}
	})
}

// A question that is withdrawn beside one that has its answer leaves nothing to wait for.
func TestFollowedTaskGoesOnOnceItsLastQuestionIsWithdrawn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		server := theirState{asking: form("a", "?") + "," + form("b", "and?")}
		f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/get": server.tell, "tasks/update": server.take(1)})
		id := f.made("Authorization", "Bearer one")
		f.reaches(id, "input_required", "Authorization", "Bearer one")
		f.answer(id, `{"a":{"action":"accept"}}`, "Authorization", "Bearer one")
		server.becomes(asksFor(form("a", "?")))
		f.reachesBy(id, "completed", time.Now().Add(13*time.Second))
	})
}

// A task that waits for its client to its end leaves none at the server. Until then the server is asked at a pace that is bounded.
func TestFollowedTaskThatIsNotAnsweredIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { r.TTL, r.Timeout = time.Hour, time.Minute })
		server := theirState{asking: form("k", "?")}
		f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/get": server.tell, "tasks/cancel": sayResult(`{"resultType":"complete"}`)})
		id := f.made("Authorization", "Bearer one")
		f.reaches(id, "input_required", "Authorization", "Bearer one")
		time.Sleep(time.Hour - 10*time.Second)
		if n := server.polled.Load(); n < 300 || n > 366 || len(f.seen.of("tasks/cancel")) != 0 {
			t.Errorf("the server was asked %d times, and told %d times to give its task up", n, len(f.seen.of("tasks/cancel")))
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		cancels, polls := f.seen.of("tasks/cancel"), server.polled.Load()
		if len(cancels) != 1 || cancels[0].msg.Params.TaskID != "their/ task" || cancels[0].header.Get("Authorization") != "Bearer one" {
			t.Errorf("the server was sent %v", cancels)
		}
		time.Sleep(time.Hour)
		if n := server.polled.Load(); n != polls {
			t.Errorf("it was asked %d times more", n-polls)
		}
	})
}

// An answer that comes too late, or beside a question that has none, says nothing of how the server's task ended; one that the server
// refuses while it asks on ends the task in its words.
func TestFollowedTaskWhoseAnswersAreRefused(t *testing.T) {
	const refusal = `{"code":-32602,"message":"the task takes no answers"}`
	completed := theirs("completed", `,"result":`+done)
	for name, c := range map[string]struct{ asks, then, status, outcome string }{
		"it had ended":        {form("k", "?"), completed, "completed", done},
		"it ended meanwhile":  {form("k", "?") + "," + form("l", "and?"), completed, "completed", done},
		"it asks that still":  {form("k", "?"), asksFor(form("k", "?")), "failed", refusal},
		"it asks another one": {form("k", "?"), asksFor(form("m", "or?")), "input_required", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, nil)
				server := theirState{asking: c.asks}
				f.serves(map[string]faultFunc{"tools/call": sayResult(theirHandle), "tasks/get": server.tell, "tasks/update": sayError(refusal)})
				id := f.made("Authorization", "Bearer one")
				f.reaches(id, "input_required", "Authorization", "Bearer one")
				time.Sleep(time.Hour / 4)
				server.becomes(c.then)
				f.answer(id, `{"k":{"action":"accept"}}`, "Authorization", "Bearer one")
				f.reachesBy(id, c.status, time.Now().Add(11*time.Second))
				if v := f.look(id, "Authorization", "Bearer one"); string(v.Result)+string(v.Error) != c.outcome {
					t.Errorf("got %s %s", v.Result, v.Error)
				}
			})
		})
	}
}
