package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
)

func TestUnboundWorkMovesOnFromARefusedConnection(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true})
	f.servers[0].kill()
	r := f.modern("tools/call", "who", `"name":"who"`)
	if m := r.message(t); r.status != http.StatusOK || m.Result.StructuredContent.Instance != "b" {
		t.Errorf("got %d %s, want b's answer", r.status, r.body)
	}
	f.servers[1].kill()
	f.servers[2].kill()
	// b's kept connection may not know yet that it is closed, and what is written to
	// it counts as sent. This test is about connections that are refused.
	f.outbound.Close()
	f.modern("tools/call", "who", `"name":"who"`).fails(t, http.StatusServiceUnavailable, -31503, "no_upstream", true)
}

// What breaks after the request was written may have run. Not even a client's
// Idempotency-Key, on which net/http would send it again, makes berth repeat it.
func TestToolIsNotRunTwiceWhenTheConnectionBreaks(t *testing.T) {
	for _, header := range [][]string{nil, {"Idempotency-Key", "k-1"}, {"X-Idempotency-Key", "k-1"}} {
		t.Run(strings.Join(header, " "), func(t *testing.T) {
			f := newRig(t, rigOptions{tcp: true})
			f.modern("tools/call", "who", `"name":"who"`) // leaves a connection that is kept
			f.servers[0].inject(reset)
			before := f.calls("tools/call")
			r := f.modern("tools/call", "who", `"name":"who"`, header...)
			r.fails(t, http.StatusBadGateway, -32603, "upstream_reset", false)
			if n := f.calls("tools/call") - before; n != 1 {
				t.Errorf("the tool was called %d times", n)
			}
		})
	}
}

func TestPureReadMovesOnWhenTheConnectionBreaks(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true})
	f.servers[0].inject(reset)
	if r := f.modern("tools/list", "", ""); r.message(t).Result == nil || f.servers[1].Calls("tools/list") != 1 {
		t.Errorf("got %d %s", r.status, r.body)
	}
}

// A kept connection may end as a request is written to it: what changes nothing is sent once more, also where there is nobody else, and
// that says nothing of the instance.
func TestPureReadIsRepeatedOnceWhereItBroke(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true})
	f.servers[0].inject(onlyOnce(reset))
	if r := f.modern("tools/list", "", ""); r.message(t).Result == nil {
		t.Errorf("got %d %s", r.status, r.body)
	}
	if n, all := f.servers[0].Calls("tools/list"), f.calls("tools/list"); n != 2 || all != 2 {
		t.Errorf("%d times at the instance, %d in all, want 2 and 2", n, all)
	}
}

func TestPollIsRepeatedOnceAtItsOwner(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true})
	id := f.newTask(0)
	f.servers[0].inject(onlyOnce(reset))
	if r := f.poll(id); r.message(t).Result == nil || r.message(t).Result.StatusMessage != "" {
		t.Errorf("got %d %s, want the owner's answer", r.status, r.body)
	}
	if own, all := f.servers[0].Calls("tasks/get"), f.calls("tasks/get"); own != 2 || all != 2 {
		t.Errorf("%d polls at the owner, %d in all, want 2 and 2", own, all)
	}
	f.servers[0].inject(reset)
	f.poll(id, "Authorization", "Bearer other").fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
	if n := f.calls("tasks/get"); n != 4 {
		t.Errorf("%d polls in all, want 4: the repetition happens once", n)
	}
}

// An update is no read: what may have arrived is not sent again.
func TestUpdateIsNotRepeated(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true})
	id := f.newTask(0)
	f.servers[0].inject(reset)
	f.modern("tasks/update", id, byID(id)).fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
	if n := f.calls("tasks/update"); n != 1 {
		t.Errorf("%d updates, want 1", n)
	}
}

// The owner was restarted: it knows best, and says so in its own words.
func TestOwnersDenialDropsTheRoute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		id := f.newTask(3600)
		f.poll(id)
		f.servers[0].Restart()
		r := f.poll(id)
		if m := r.message(t); r.status != http.StatusOK || m.Error == nil || m.Error.Code != -32602 || !strings.Contains(r.body, "Failed to retrieve task") {
			t.Errorf("got %d %s, want the owner's own words", r.status, r.body)
		}
		if got := f.owner(id); got != "" {
			t.Errorf("still bound to %s", got)
		}
		if r := f.poll(id); r.message(t).Error.Code != -32602 {
			t.Errorf("afterwards got %s", r.body)
		}
	})
}

// An end that was seen stands, whatever its owner forgot.
func TestOwnersDenialDoesNotUndoAnEnd(t *testing.T) {
	for _, sse := range []bool{false, true} {
		t.Run(fmt.Sprintf("sse=%v", sse), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{server: func(s *mcptest.Server) { s.SSE = sse }})
				id, core := f.newTask(0), f.newCoreTask("", 0)
				time.Sleep(time.Second)
				poll, result := f.poll(id), f.legacy("", "tasks/result", byID(core))
				f.servers[0].Restart()
				if got := f.poll(id); got.message(t).Result == nil || got.message(t).Result.Status != "completed" {
					t.Errorf("poll got %s, before it was %s", got.body, poll.body)
				}
				if got := f.legacy("", "tasks/result", byID(core)); got.message(t).Result == nil {
					t.Errorf("tasks/result got %s, before it was %s", got.body, result.body)
				}
			})
		})
	}
}

func TestRedirectIsNotFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
			http.Redirect(w, r, "http://b/mcp", http.StatusTemporaryRedirect)
			return true
		})
		f.modern("tools/call", "who", `"name":"who"`).fails(t, http.StatusBadGateway, -32603, "bad_upstream_response", false)
		if n := f.servers[1].Calls("tools/call"); n != 0 {
			t.Errorf("followed %d times", n)
		}
	})
}

func TestRefusalsOfTheUpstreamPass(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		for status, header := range map[int]string{
			http.StatusUnauthorized: "Www-Authenticate", http.StatusForbidden: "X-Why", http.StatusTooManyRequests: "Retry-After",
		} {
			f.servers[0].inject(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
				w.Header().Set(header, "17")
				http.Error(w, "no", status)
				return true
			})
			r := f.modern("tools/call", "who", `"name":"who"`)
			if r.status != status || r.body != "no\n" || r.header.Get(header) != "17" {
				t.Errorf("%d: got %d %q %v", status, r.status, r.body, r.header)
			}
		}
	})
}

// Without the store nobody can say that an id does not exist.
func TestUnknownIsNeverSaidWithoutTheStore(t *testing.T) {
	f := newRig(t, rigOptions{tcp: true, store: openStore(t, "redis://127.0.0.1:1/0")})
	f.poll("nobodys").fails(t, http.StatusServiceUnavailable, -31503, "store_unavailable", true)
	if n := f.calls("tasks/get"); n != 3 {
		t.Errorf("the fleet was asked %d times, want 3", n)
	}
	id := f.newTask(0)
	if r := f.poll(id); r.message(t).Result == nil {
		t.Errorf("a task made without the store: %d %s", r.status, r.body)
	}
}

// Who bears a token that has run out is told so, though the map does not know what he asks
// for: told to come back later he would do that for ever.
func TestRefusalByAllWhoAnswerIsTheAnswer(t *testing.T) {
	login, forbidden := sayRefusal(401, jsonType, `{}`), sayRefusal(403, "text/plain", "no")
	for name, c := range map[string]struct {
		answers []faultFunc
		want    int
	}{
		"one":                      {[]faultFunc{login}, 401},
		"one forbids":              {[]faultFunc{forbidden}, 403},
		"several":                  {[]faultFunc{login, login, login}, 401},
		"beside those that failed": {[]faultFunc{login, reset, sayStatus(503, jsonType, `{}`)}, 401},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{size: len(c.answers)})
				for i, answer := range c.answers {
					f.servers[i].inject(answer)
				}
				for asked, r := range map[string]reply{
					"modern": f.poll("nobodys"), "legacy": f.legacy("", "tasks/get", byID("nobodys")), "in a session": f.legacy("nobodys", "tools/list", ""),
				} {
					if r.status != c.want || r.header.Get("WWW-Authenticate") != `Bearer resource_metadata="x"` {
						t.Errorf("%s: got %v, WWW-Authenticate %q", asked, r, r.header.Get("WWW-Authenticate"))
					}
				}
			})
		})
	}
}

// A poll that is refused for other reasons says nothing about the task.
func TestRefusalIsNoDenial(t *testing.T) {
	for _, status := range []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusInternalServerError} {
		t.Run(http.StatusText(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{})
				f.servers[1].inject(func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
					w.Header().Set("Content-Type", jsonType)
					w.WriteHeader(status)
					_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":"berth","error":{"code":-32602,"message":"no"}}`)
					return true
				})
				f.poll("nobodys").fails(t, http.StatusServiceUnavailable, -31503, "owner_unavailable", true)
			})
		})
	}
}
