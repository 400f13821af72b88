package proxy_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/mcptest"
	"berth/internal/storage/redistest"
	"berth/routing"
	"berth/sticky"
)

// guessed is the id that somebody guesses a server will make next.
const guessed = "7"

// handOut answers creations with a task of the guessed id; anything about it as its owner.
func (f *rig) handOut(s *rigServer) {
	s.inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if methodIn(body) == "tools/call" {
			return say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"7","status":"working","ttlMs":3600000}}`)(w, r, body)
		}
		return say(jsonType, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","taskId":"7","status":"working","by":%q}}`, s.Name))(w, r, body)
	})
}

// squat sends a call that is to become a task of the guessed id, to a.
func (f *rig) squat(header ...string) reply {
	f.t.Helper()
	return f.do(f.squatting(f.t.Context(), header...))
}

func (f *rig) squatting(ctx context.Context, header ...string) *http.Request {
	f.t.Helper()
	body := message("tools/call", slowCompute(3600)+draftMeta(guessed))
	return f.request(ctx, http.MethodPost, body, append(legacyHeader(""), header...)...)
}

// refusals are what an upstream says that makes no task.
var refusals = map[string]faultFunc{
	"401":                sayStatus(http.StatusUnauthorized, jsonType, `{}`),
	"400":                sayStatus(http.StatusBadRequest, jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}`),
	"404, no JSON":       sayStatus(http.StatusNotFound, "text/plain", "no"),
	"429":                sayStatus(http.StatusTooManyRequests, "text/plain", ""),
	"500":                sayStatus(http.StatusInternalServerError, "text/plain", ""),
	"503":                sayStatus(http.StatusServiceUnavailable, "text/plain", ""),
	"302":                sayStatus(http.StatusFound, "text/plain", ""),
	"an error":           say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}`),
	"one without an id":  say(jsonType, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no"}}`),
	"one in a stream":    say(eventsType, "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"no\"}}\n\n"),
	"a task of its own":  say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"task":{"taskId":"own","status":"working"}}}`),
	"one after progress": say(eventsType, ": hm\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{}}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"no\"}}\n\n"),
}

// Eight of ten creations of others became 502, and their tasks were cancelled, once somebody
// had named the ids first: in calls without any credential, which were answered with 401.
func TestRefusedCallBindsNothing(t *testing.T) {
	for name, refuse := range refusals {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newDraftRig(t, rigOptions{principals: true})
				f.servers[0].inject(refuse)
				f.squat(userHeader, "mallory")
				time.Sleep(time.Millisecond)
				mine := f.router.TaskKey("mallory", guessed)
				for _, key := range []sticky.Key{mine, mine.Claim()} {
					if owner := ownerOf(f.bindings, key); owner != "" {
						t.Errorf("%s is bound to %s", key.Kind, owner)
					}
				}
			})
		})
	}
}

// The same where the squatter does not wait for the answer.
func TestRefusedCallBindsNothingThoughItsClientLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newDraftRig(t, rigOptions{})
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			time.Sleep(time.Minute)
			return refusals["an error"](w, r, body)
		})
		ctx, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if r, err := f.client.Do(f.squatting(ctx)); err == nil {
			t.Fatalf("got %d", r.StatusCode)
		}
		if f.owner(guessed) != "a" {
			t.Error("not bound while the call is under way")
		}
		time.Sleep(2 * time.Minute)
		if owner := f.owner(guessed); owner != "" {
			t.Errorf("bound to %s", owner)
		}
	})
}

// keepSilent takes calls in and lets them wait; it shows no task.
func keepSilent(w http.ResponseWriter, r *http.Request, body []byte) bool {
	if methodIn(body) != "tools/call" {
		return say(jsonType, `{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Task not found"}}`)(w, r, body)
	}
	<-r.Context().Done()
	return true
}

// What is named while its call is under way is still no more than a name: the server whose
// id it is hands its task out, and nobody cancels it.
func TestServersTaskTakesTheGuessedID(t *testing.T) {
	for name, principals := range map[string]bool{"nobody told apart": false, "principals": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newDraftRig(t, rigOptions{principals: principals})
				f.servers[0].inject(keepSilent)
				f.handOut(f.servers[1])
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				go f.client.Do(f.squatting(ctx, userHeader, "mallory"))
				synctest.Wait()
				f.pool.Upstreams()[0].Draining = true // the next call is b's
				if r := f.modern("tools/call", "slow_compute", slowTool, userHeader, "alice"); r.status != http.StatusOK || r.message(t).Result.TaskID != guessed {
					t.Errorf("creation: got %d %s", r.status, r.body)
				}
				if r := f.poll(guessed, userHeader, "alice"); !strings.Contains(r.body, `"by":"b"`) {
					t.Errorf("poll: got %d %s, want b's answer", r.status, r.body)
				}
				if got := f.calls("tasks/cancel"); got != 0 {
					t.Errorf("%d tasks were cancelled", got)
				}
				if r := f.poll(guessed, userHeader, "mallory"); principals && r.message(t).Error == nil {
					t.Errorf("another's poll: got %d %s", r.status, r.body)
				}
				time.Sleep(time.Hour) // the call goes on, and is worth nothing
				if r := f.poll(guessed, userHeader, "alice"); !strings.Contains(r.body, `"by":"b"`) {
					t.Errorf("an hour later: got %d %s, want b's answer", r.status, r.body)
				}
			})
		})
	}
}

// One instance knows nobody apart: with principals, what it made for one is not shown to
// another who named its id before.
func TestGuessedIDLeadsNobodyToAnothersTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newDraftRig(t, rigOptions{principals: true, size: 1})
		a := f.servers[0]
		a.inject(keepSilent)
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		go f.client.Do(f.squatting(ctx, userHeader, "mallory"))
		synctest.Wait()
		f.poll(guessed, userHeader, "mallory").refusedWith(t, -32602)
		f.handOut(a)
		if r := f.modern("tools/call", "slow_compute", slowTool, userHeader, "alice"); r.message(t).Result == nil {
			t.Fatalf("creation: got %d %s", r.status, r.body)
		}
		for range 2 {
			f.poll(guessed, userHeader, "mallory").refusedWith(t, -32602)
			if r := f.poll(guessed, userHeader, "alice"); r.message(t).Result == nil {
				t.Errorf("the owner's poll: got %d %s", r.status, r.body)
			}
		}
	})
}

// The same with the squatter at another berth on the same Redis.
func TestServersTaskTakesTheIDGuessedAtAnotherBerth(t *testing.T) {
	url := redistest.Start(t).URL()
	draft := func() rigOptions {
		return rigOptions{size: 2, principals: true, endpoint: firstDraft, store: openStore(t, url)}
	}
	f := newRig(t, draft())
	g := f.second(draft())
	f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`)(w, r, body) // a plain result: no task was told of
	})
	f.squat(userHeader, "mallory")
	if ownerOf(g.bindings, g.router.TaskKey("mallory", guessed)) != "a" {
		t.Error("the other berth does not know of it")
	}
	f.handOut(f.servers[1])
	for _, berth := range []*rig{f, g} {
		berth.pool.Upstreams()[0].Draining = true
	}
	if r := g.modern("tools/call", "slow_compute", slowTool, userHeader, "alice"); r.status != http.StatusOK {
		t.Errorf("creation: got %d %s", r.status, r.body)
	}
	for name, berth := range map[string]*rig{"first": f, "second": g} {
		if r := berth.poll(guessed, userHeader, "alice"); !strings.Contains(r.body, `"by":"b"`) {
			t.Errorf("the %s berth: got %d %s, want b's answer", name, r.status, r.body)
		}
		berth.poll(guessed, userHeader, "mallory").refusedWith(t, -32602)
	}
}

// telling are the ways in which an owner tells of a task of the client's.
var telling = map[string]func(f *rig, session string){
	"a poll": func(f *rig, session string) {
		f.legacy(session, "tasks/get", byID("mine"))
	},
	"the notification that it is made": func(f *rig, session string) {
		f.servers[0].inject(onMethod("tools/call", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			w.Header().Set("Content-Type", eventsType)
			fmt.Fprint(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tasks/created\",\"params\":{\"_meta\":{\"modelcontextprotocol.io/related-task\":{\"taskId\":\"mine\"}}}}\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
			return true
		}))
		go f.client.Do(f.legacyRequest(f.t.Context(), session, "tools/call", slowCompute(0)+draftMeta("mine")))
		synctest.Wait()
	},
	"the result, of a call sent again": func(f *rig, session string) {
		f.servers[0].inject(onMethod("tools/call", onlyOnce(reset)))
		for range 2 {
			f.legacy(session, "tools/call", slowCompute(0)+draftMeta("mine"))
		}
	},
}

// What its owner has told of is bound as any task is; until then it is bound for minutes,
// or for as long as its call is under way.
func TestToldTaskOfAClientIsBoundForGood(t *testing.T) {
	for name, tell := range telling {
		for _, inSession := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, session %v", name, inSession), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f, session := newDraftRig(t, rigOptions{server: func(s *mcptest.Server) { s.TTL = 2 * time.Hour }}), ""
					if inSession {
						session = f.initialize()
					}
					ctx, leave := context.WithCancel(t.Context())
					defer leave()
					if name == "a poll" {
						go f.client.Do(f.legacyRequest(ctx, session, "tools/call", slowCompute(3600)+draftMeta("mine")))
						time.Sleep(time.Hour / 2)
					}
					tell(f, session)
					binding, _, err := f.bindings.Lookup(t.Context(), f.router.TaskKey("", "mine"))
					if err != nil || binding.Upstream != "a" || binding.Provisional() || time.Until(binding.Expires) < time.Hour {
						t.Errorf("bound as %+v, %v; want a's, for good", binding, err)
					}
				})
			})
		}
	}
}

// A server that ignores the draft answers as to any call. The id is free again soon.
func TestUntoldTaskOfAClientIsForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newDraftRig(t, rigOptions{})
		f.servers[0].inject(say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"content":[]}}`))
		f.draftTask("mine")
		if got := f.owner("mine"); got != "a" {
			t.Errorf("bound to %q at first, want a", got)
		}
		time.Sleep(sticky.ProvisionalLife + time.Second)
		if got := f.owner("mine"); got != "" {
			t.Errorf("bound to %q, want to none", got)
		}
	})
}

// Two send the same id at once. That one of them is refused does not take it from the other.
func TestRefusalOfOneKeepsTheOthersTask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newDraftRig(t, rigOptions{})
		session := f.initialize()
		go f.client.Do(f.legacyRequest(t.Context(), session, "tools/call", slowCompute(60)+draftMeta("mine")))
		synctest.Wait()
		f.servers[0].inject(onMethod("tools/call", refusals["401"]))
		for _, in := range []string{session, ""} {
			if r := f.legacy(in, "tools/call", slowCompute(60)+draftMeta("mine")); r.status != http.StatusUnauthorized {
				t.Errorf("the second: got %d %s", r.status, r.body)
			}
		}
		time.Sleep(time.Second)
		if got := f.owner("mine"); got != "a" {
			t.Errorf("bound to %q, want a", got)
		}
	})
}

// By default the ids of the withdrawn draft mean nothing: a call is a call.
func TestDraftIsOffByDefault(t *testing.T) {
	f := newRig(t, rigOptions{picker: new(routing.RoundRobin)})
	for _, id := range []string{guessed, guessed, strings.Repeat("x", 257)} {
		f.draftTask(id)
	}
	if got := f.owner(guessed); got != "" {
		t.Errorf("bound to %q", got)
	}
	for _, s := range f.servers {
		if got := s.Calls("tools/call"); got != 1 {
			t.Errorf("%s got %d calls, want one each", s.Name, got)
		}
	}
	principals := start(t, setup{principals: true, upstreams: 1})
	id := principals.makeTask(userHeader, "alice")
	if r := principals.legacy("", "tools/list", draftMeta(id)[1:], userHeader, "mallory"); r.code() != 0 {
		t.Errorf("an id that is another's: got %v, want the list", r)
	}
}
