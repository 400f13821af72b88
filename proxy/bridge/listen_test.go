package bridge

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy/bridge/subscriptions"
	"berth/proxy/bridge/tools"
)

// hearing is a subscription that is read.
type hearing struct {
	events chan string // messages; closed with the stream
	stop   func()
}

// hear subscribes with this filter.
func (r *rig) hear(filter string, a asking) *hearing {
	r.t.Helper()
	a.method, a.params = "subscriptions/listen", `"notifications":`+filter+`,`
	ctx, stop := context.WithCancel(r.t.Context())
	response, err := r.send(ctx, a)
	if err != nil || response.Status != 200 {
		r.t.Fatalf("got %+v, %v", response, err)
	}
	h := &hearing{make(chan string, 1000), stop}
	go func() {
		defer close(h.events)
		defer response.Body.Close()
		var text strings.Builder
		for {
			piece := make([]byte, 4096)
			n, err := response.Body.Read(piece)
			text.Write(piece[:n])
			for {
				event, rest, whole := strings.Cut(text.String(), "\n\n")
				if !whole {
					break
				}
				text.Reset()
				text.WriteString(rest)
				_, data, _ := strings.Cut(event, "data: ")
				h.events <- data
			}
			if err != nil {
				return
			}
		}
	}()
	return h
}

// next is the next message, "" if there is none for a while.
func (h *hearing) next() string {
	select {
	case e := <-h.events:
		return e
	case <-time.After(time.Second):
		return ""
	}
}

// has reports whether the stream has ended.
func (h *hearing) hasEnded() bool {
	select {
	case _, open := <-h.events:
		return !open
	case <-time.After(time.Second):
		return false
	}
}

const (
	toolsChanged   = `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`
	promptsChanged = `{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}`
)

func updated(uri string) string {
	return `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + uri + `"}}`
}

// What the server tells of is granted, and told of under the subscription's name; nothing else is.
func TestASubscriptionHearsWhatItAskedFor(t *testing.T) {
	bridged(t, &upstream{kind: kind{does: `{"tools":{"listChanged":true},"prompts":{"listChanged":true},"resources":{}}`}}, nil, func(r *rig) {
		h := r.hear(`{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["file:x"]}`, asking{id: `"sub"`})
		if ack := h.next(); !strings.Contains(ack, `"notifications":{"toolsListChanged":true}`) || !strings.Contains(ack, "subscriptions/acknowledged") || !strings.Contains(ack, `"io.modelcontextprotocol/subscriptionId":"sub"`) {
			t.Errorf("got %s", ack)
		}
		r.say(promptsChanged)
		r.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"x"}}`)
		r.say(updated("file:x"))
		r.say(toolsChanged)
		if got := h.next(); !strings.Contains(got, "tools/list_changed") || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"sub"`) {
			t.Errorf("got %s", got)
		}
		if more := h.next(); more != "" {
			t.Errorf("and %s", more)
		}
		if n := len(r.sent("resources/subscribe")); n != 0 {
			t.Errorf("%d subscriptions that the server does not offer", n)
		}
		h.stop()
	})
}

// Of what a client that has left wished to hear the server is told no more than that it hears nothing any more of what was subscribed to.
func TestAClientThatLeavesBeforeAllIsSubscribedTo(t *testing.T) {
	u := &upstream{}
	u.faults = func(_ http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method == "resources/subscribe" {
			time.Sleep(time.Second)
		}
		return false
	}
	bridged(t, u, nil, func(r *rig) {
		ctx, leave := context.WithTimeout(r.t.Context(), 2500*time.Millisecond)
		defer leave()
		uris := []string{`"file:x"`, `"file:x"`, `"file:y"`, `"file:y"`}
		for n := range 100 {
			uris = append(uris, fmt.Sprintf(`"file:%d"`, n))
		}
		response, err := r.send(ctx, asking{method: "subscriptions/listen", params: `"notifications":{"resourceSubscriptions":[` + strings.Join(uris, ",") + `]},`})
		if err == nil {
			response.Body.Close()
		}
		time.Sleep(time.Hour / 2)
		asked, undone := len(r.sent("resources/subscribe")), len(r.sent("resources/unsubscribe"))
		if asked > 3 || undone != asked {
			t.Errorf("%d were subscribed to, and %d no more", asked, undone)
		}
	})
}

// What is no filter is refused, and what is not wanted is not agreed to.
func TestAFilterIsReadAsTheRevisionHasIt(t *testing.T) {
	bridged(t, &upstream{}, nil, func(r *rig) {
		for _, bad := range []string{`{"toolsListChanged":"yes"}`, `{"promptsListChanged":{}}`, `{"resourceSubscriptions":"file:x"}`, `{"resourceSubscriptions":[1]}`, `{"resourceSubscriptions":true}`, `null`, `"all"`, `[]`} {
			if g := r.do(asking{method: "subscriptions/listen", params: `"notifications":` + bad + `,`}); g.status != 400 || g.Error == nil || g.Error.Code != -32602 {
				t.Errorf("%s: got %d %s", bad, g.status, g.text)
			}
		}
		if g := r.do(asking{method: "subscriptions/listen"}); g.status != 400 || g.Error == nil || g.Error.Code != -32602 {
			t.Errorf("none: got %d %s", g.status, g.text)
		}
		h := r.hear(`{"toolsListChanged":true,"promptsListChanged":null,"resourceSubscriptions":null,"others":"x"}`, asking{})
		if ack := h.next(); !strings.Contains(ack, `"notifications":{"toolsListChanged":true}`) {
			t.Errorf("got %s", ack)
		}
		h.stop()
	})
}

// A change is told in any session of the caller's, those that are opened later as well.
func TestASubscriptionHearsAllSessionsOfItsCaller(t *testing.T) {
	bridged(t, tool(kind{}, where), nil, func(r *rig) {
		before := r.do(asking{name: "asks"}).in()
		h := r.hear(`{"toolsListChanged":true}`, asking{})
		h.next()
		later := r.do(asking{name: "asks"}).in()
		if later == before {
			r.t.Fatalf("the subscription leaves its session, %s, to a call", before)
		}
		for range 2 { // nobody hears for a while
			h.stop()
			synctest.Wait()
			h = r.hear(`{"toolsListChanged":true}`, asking{})
			h.next()
		}
		r.do(asking{method: "tools/list", declares: declaresNone}) // a third one of the caller's
		others := r.do(asking{name: "asks", caller: "other"}).in()
		open := r.open()
		for _, name := range open {
			r.say(toolsChanged, name)
			time.Sleep(subscriptions.SameNews)
			if heard := h.next() != ""; heard == (name == others) {
				t.Errorf("heard of a change in session %s: %v", name, heard)
			}
		}
		if len(open) != 4 {
			t.Errorf("sessions %v are open", open)
		}
		time.Sleep(2 * r.b.options().Idle) // but for its own they are ended, as any that nobody uses
		r.say(toolsChanged)
		if n := len(r.open()); n != 1 || h.next() == "" || h.next() != "" {
			t.Errorf("%d sessions are open", n)
		}
		h.stop()
	})
}

// What a call's stream tells of changes is heard as what a session's own stream does, also beside a question, and what is no UTF-8 on neither.
func TestWhatACallTellsOfChangesIsHeard(t *testing.T) {
	const garbled = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/prompts/list_changed\",\"params\":{\"x\":\"\xff\"}}"
	tells := func(k *running) {
		k.say(garbled)
		k.say(promptsChanged)
		k.say(updated("file:x"))
		k.say(updated("file:other"))
	}
	for name, does := range map[string]func(k *running){
		"plain": tells,
		"asks": func(k *running) {
			go func() {
				time.Sleep(time.Millisecond)
				tells(k)
			}()
			k.ends(k.ask())
		},
	} {
		t.Run(name, func(t *testing.T) {
			bridged(t, tool(kind{}, does), nil, func(r *rig) {
				h := r.hear(`{"promptsListChanged":true,"resourceSubscriptions":["file:x"]}`, asking{})
				other := r.hear(`{"promptsListChanged":true,"resourceSubscriptions":["file:x"]}`, asking{caller: "other"})
				h.next()
				other.next()
				if g := r.do(asking{name: "asks"}); g.Result.Type == "input_required" {
					r.do(asking{name: "asks", params: g.answers(accepted)})
				}
				r.say(garbled)
				if a, b := h.next(), h.next(); !strings.Contains(a, "prompts/list_changed") || !strings.Contains(b, `"uri":"file:x"`) {
					t.Errorf("heard %q and %q", a, b)
				}
				if more, others := h.next(), other.next(); more != "" || others != "" {
					t.Errorf("heard %q as well, and another caller %q", more, others)
				}
				h.stop()
				other.stop()
			})
		})
	}
}

// A session that nobody uses is listened to for as long as somebody subscribes.
func TestNobodyListensForNobody(t *testing.T) {
	bridged(t, tool(kind{}, where), nil, func(r *rig) {
		r.do(asking{method: "tools/list", declares: declaresForm})
		before := r.sent("tools/list")[0].session
		reads := func() bool {
			time.Sleep(time.Second)
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.sessions[before].own.read
		}
		h := r.hear(`{"toolsListChanged":true}`, asking{})
		h.next()
		if !reads() {
			t.Error("a subscription does not hear what was opened before")
		}
		h.stop()
		if reads() {
			t.Error("a session that nobody uses is still listened to")
		}
	})
}

// What the server has refused is granted to nobody, nor while it has not answered; who leaves meanwhile leaves nothing behind.
func TestResourceThatIsNotSubscribedToIsNotAgreedTo(t *testing.T) {
	u := &upstream{}
	refuses := true
	u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method != "resources/subscribe" {
			return false
		}
		time.Sleep(time.Second)
		if refuses {
			respond(w, 200, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"error":{"code":-32603,"message":"no"}}`)
		}
		return refuses
	}
	bridged(t, u, nil, func(r *rig) {
		const wish = `{"toolsListChanged":true,"resourceSubscriptions":["file:x"]}`
		acknowledged := make(chan string, 2)
		var hearers [2]*hearing
		for i := range hearers {
			go func() {
				hearers[i] = r.hear(wish, asking{})
				acknowledged <- hearers[i].next()
			}()
		}
		for range hearers {
			if got := <-acknowledged; strings.Contains(got, "file:x") {
				t.Errorf("agreed to: %s", got)
			}
		}
		refuses = false
		third := r.hear(wish, asking{})
		if got := third.next(); !strings.Contains(got, "file:x") {
			t.Errorf("not agreed to: %s", got)
		}
		for _, h := range append(hearers[:], third) {
			h.stop()
		}
	})
}

// Who comes as the last one leaves is told: the server has heard that before it is asked anew.
func TestResourceIsSubscribedToAnewOnceItIsNotAnyMore(t *testing.T) {
	u := &upstream{}
	var ending atomic.Int32
	u.faults = func(_ http.ResponseWriter, _ *http.Request, m message) bool {
		switch m.Method {
		case "resources/unsubscribe":
			ending.Add(1)
			time.Sleep(10 * time.Millisecond) // it comes over another connection
			ending.Add(-1)
		case "resources/subscribe":
			if ending.Load() != 0 {
				t.Error("subscribed to before the end of the one before was answered")
			}
		}
		return false
	}
	bridged(t, u, nil, func(r *rig) {
		const wish = `{"resourceSubscriptions":["file:x"]}`
		one := r.hear(wish, asking{})
		one.next()
		one.stop()
		time.Sleep(time.Millisecond)
		two := r.hear(wish, asking{})
		if got := two.next(); !strings.Contains(got, "file:x") || len(r.sent("resources/subscribe")) != 2 {
			t.Errorf("got %s", got)
		}
		two.stop()
	})
}

// Who listens for a resource is counted: it is subscribed to with the first, and no more with the last.
func TestResourceSubscriptionsAreCounted(t *testing.T) {
	bridged(t, &upstream{}, nil, func(r *rig) {
		one := r.hear(`{"resourceSubscriptions":["file:x","file:y"]}`, asking{id: "1"})
		two := r.hear(`{"resourceSubscriptions":["file:x"]}`, asking{id: "2"})
		if a, b := one.next(), two.next(); !strings.Contains(a, `"resourceSubscriptions":["file:x","file:y"]`) || !strings.Contains(b, `"resourceSubscriptions":["file:x"]`) {
			t.Errorf("got %s and %s", a, b)
		}
		r.say(updated("file:x"))
		if a, b := one.next(), two.next(); !strings.Contains(a, "file:x") || !strings.Contains(b, "file:x") {
			t.Errorf("got %s and %s", a, b)
		}
		r.say(updated("file:y"))
		if a, b := one.next(), two.next(); !strings.Contains(a, "file:y") || b != "" {
			t.Errorf("got %s and %s", a, b)
		}
		left := func() (n int) {
			synctest.Wait()
			return len(r.sent("resources/subscribe"))*10 + len(r.sent("resources/unsubscribe"))
		}
		one.stop()
		if n := left(); n != 21 {
			t.Errorf("with one left: %d", n)
		}
		two.stop()
		if n := left(); n != 22 {
			t.Errorf("with none left: %d", n)
		}
	})
}

// What a client leaves unread is bounded: then its subscription ends, and others go on.
func TestASubscriptionThatIsNotReadEnds(t *testing.T) {
	bridged(t, &upstream{}, nil, func(r *rig) {
		response, err := r.send(r.t.Context(), asking{method: "subscriptions/listen", params: `"notifications":{"toolsListChanged":true},`})
		if err != nil {
			r.t.Fatal(err)
		}
		h := r.hear(`{"toolsListChanged":true}`, asking{})
		for range subscriptions.MaxUnread + 1 {
			r.say(toolsChanged)
			synctest.Wait() // the other one reads
		}
		synctest.Wait()
		got, err := io.ReadAll(response.Body)
		if n := strings.Count(string(got), "list_changed"); err != nil || n > subscriptions.MaxUnread {
			t.Errorf("got %d changes, %v", n, err)
		}
		response.Body.Close()
		synctest.Wait()
		time.Sleep(2 * subscriptions.SameNews) // what two sessions tell at once comes once more in the end
		synctest.Wait()
		if n := len(h.events); n < 2 {
			t.Errorf("the other one got %d", n)
		}
		h.stop()
	})
}

// A GET stream that ends is opened anew, from the last event on, with the credentials that its
// caller has by then. With the session it ends for good, and the subscription with it: its client
// opens one in a new session.
func TestAGetStreamIsReadOn(t *testing.T) {
	u := tool(kind{}, where)
	bridged(t, u, nil, func(r *rig) {
		me := func(token string) asking {
			return asking{name: "asks", caller: "me", header: []string{"Authorization", token}}
		}
		h := r.hear(`{"toolsListChanged":true}`, me("old"))
		h.next()
		r.do(me("new"))
		r.say(toolsChanged, "s2")
		h.next()
		r.hear(`{"toolsListChanged":true}`, me("new")).stop()
		r.mu.Lock()
		close(r.sessions["s2"].own.cut)
		r.mu.Unlock()
		time.Sleep(time.Second)
		r.say(toolsChanged, "s2")
		if got := h.next(); got == "" || h.next() != "" {
			t.Errorf("got %q", got)
		}
		gets := r.sent("GET")
		if last := gets[len(gets)-1].header; last.Get("Last-Event-Id") != "own/1" || last.Get("Authorization") != "new" {
			t.Errorf("opened anew with %v", last)
		}
		r.forget()
		time.Sleep(time.Second)
		if !h.hasEnded() {
			r.t.Fatal("the subscription stands without a session")
		}
		h = r.hear(`{"toolsListChanged":true}`, me("new"))
		h.next()
		r.say(toolsChanged)
		if got := h.next(); got == "" {
			t.Error("nothing is heard in the new session")
		}
		h.stop()
	})
}

// A GET stream that breaks off and whose last event the server knows no more is read from now on. What came meanwhile nobody has heard:
// the subscription ends, as it does where there is no stream any more, and its client looks anew.
func TestAGetStreamWhoseEventsAreForgotten(t *testing.T) {
	for status, again := range map[int]bool{400: true, 404: true, 405: false} {
		t.Run(strconv.Itoa(status), func(t *testing.T) {
			u := tool(kind{}, where)
			u.faults = func(w http.ResponseWriter, q *http.Request, _ message) bool {
				forgotten := q.Method == http.MethodGet && q.Header.Get("Last-Event-Id") != ""
				if forgotten {
					w.WriteHeader(status)
				}
				return forgotten
			}
			bridged(t, u, nil, func(r *rig) {
				h := r.hear(`{"toolsListChanged":true}`, asking{})
				h.next()
				r.say(toolsChanged)
				h.next()
				r.breakOwn()
				time.Sleep(time.Second)
				if !h.hasEnded() {
					t.Error("a subscription stands that has missed what was told")
				}
				before := r.open()
				h = r.hear(`{"toolsListChanged":true}`, asking{})
				if ack := h.next(); strings.Contains(ack, `"toolsListChanged":true`) != again {
					t.Errorf("agreed to %s", ack)
				}
				r.say(toolsChanged)
				if got := h.next(); (got != "") != again {
					t.Errorf("heard %q in the session", got)
				}
				if after := r.open(); !slices.Equal(before, after) {
					t.Errorf("the sessions were %v, and are %v", before, after)
				}
				h.stop()
			})
		})
	}
}

// A GET stream that is not read on from its last event for half a minute, whatever is answered in its place, is read from now on, and the
// subscription ends. For a moment it may be refused: then nothing is missed.
func TestAGetStreamThatIsNotReadOn(t *testing.T) {
	for name, tc := range map[string]struct {
		status int
		away   time.Duration // 0: for ever
	}{"500": {500, 0}, "401": {401, 0}, "a moment": {503, 10 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			u := tool(kind{}, where)
			var isBack atomic.Bool
			u.faults = func(w http.ResponseWriter, q *http.Request, _ message) bool {
				resumes := q.Method == http.MethodGet && q.Header.Get("Last-Event-Id") != "" && !isBack.Load()
				if resumes {
					w.WriteHeader(tc.status)
				}
				return resumes
			}
			bridged(t, u, nil, func(r *rig) {
				h := r.hear(`{"toolsListChanged":true}`, asking{})
				h.next()
				r.say(toolsChanged)
				h.next()
				r.breakOwn()
				synctest.Wait()
				r.say(promptsChanged)
				r.say(toolsChanged)
				if tc.away > 0 {
					time.Sleep(tc.away)
					isBack.Store(true)
					time.Sleep(time.Minute)
					if got := h.next(); !strings.Contains(got, "tools/list_changed") {
						t.Errorf("heard %q in the end", got)
					}
					h.stop()
					return
				}
				time.Sleep(time.Minute)
				if !h.hasEnded() {
					t.Error("a subscription stands that hears nothing")
				}
				h = r.hear(`{"toolsListChanged":true}`, asking{})
				h.next()
				r.say(toolsChanged)
				if got := h.next(); got == "" {
					t.Error("nothing is heard of what comes then")
				}
				h.stop()
			})
		})
	}
}

// Where a call finds the session lost, the subscription that has it ends as well: what it had
// subscribed to is lost with it.
func TestACallFindsASubscriptionsSessionLost(t *testing.T) {
	bridged(t, tool(kind{}, where), nil, func(r *rig) {
		h := r.hear(`{"resourceSubscriptions":["file:x"]}`, asking{})
		h.next()
		r.mu.Lock()
		clear(r.sessions)
		r.mu.Unlock()
		if g := r.do(asking{method: "tools/list"}); g.status != 200 {
			t.Errorf("got %s", g.text)
		}
		if !h.hasEnded() {
			t.Error("the subscription stands without a session")
		}
		h.stop()
	})
}

// A server without GET streams is asked once a session, twice where it may have one when the session
// is open, and its sessions are kept. No subscription is agreed to that could not be told of anything.
func TestAServerHasNoGetStream(t *testing.T) {
	for status, times := range map[int]int{404: 2, 405: 1} {
		u := tool(kind{}, where)
		u.faults = func(w http.ResponseWriter, q *http.Request, _ message) bool {
			if q.Method == http.MethodGet {
				w.WriteHeader(status)
			}
			return q.Method == http.MethodGet
		}
		bridged(t, u, nil, func(r *rig) {
			first := r.do(asking{name: "asks"}).in()
			if second := r.do(asking{name: "asks"}).in(); second != first || len(r.sent("GET")) != times {
				t.Errorf("%d: sessions %s and %s, asked %d times", status, first, second, len(r.sent("GET")))
			}
			for range 2 {
				h := r.hear(`{"toolsListChanged":true,"resourceSubscriptions":["file:x"]}`, asking{})
				if got := h.next(); !strings.Contains(got, `"notifications":{}`) || h.hasEnded() {
					t.Errorf("%d: a subscription does not stand, or tells %s", status, got)
				}
				h.stop()
			}
		})
	}
}

// A server that says that its tools have changed is asked for them before the next call, on whichever stream it says so, and once.
func TestToolsThatHaveChangedAreListedAnew(t *testing.T) {
	for _, inCall := range []bool{false, true} {
		u := tool(kind{lists: `{"tools":[{"name":"asks"}]}`}, func(k *running) {
			if inCall {
				k.say(toolsChanged)
			}
		})
		bridged(t, u, nil, func(r *rig) {
			r.do(asking{name: "asks"})
			if !inCall {
				r.say(toolsChanged)
			}
			synctest.Wait()
			r.do(asking{name: "asks"})
			if n := len(r.sent("tools/list")); n != 1 {
				t.Errorf("in a call %v: a list that was new was read %d times", inCall, n)
			}
			time.Sleep(tools.ListAgain)
			u.tools["asks"] = where
			for range 3 {
				r.do(asking{name: "asks"})
			}
			if n := len(r.sent("tools/list")); n != 2 {
				t.Errorf("in a call %v: the list was read %d times", inCall, n)
			}
		})
	}
}
