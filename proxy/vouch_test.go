package proxy_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
	"berth/upgrade"
)

// guarded has the instance take these tokens only, and count who asked.
func (f *upgraded) guarded(tokens ...string) {
	const challenge = `Bearer resource_metadata="https://x.example/.well-known/oauth-protected-resource"`
	f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		f.seen.note(r, body)
		taken := false
		for _, token := range tokens {
			taken = taken || r.Header.Get("Authorization") == "Bearer "+token
		}
		if !taken {
			w.Header().Set("WWW-Authenticate", challenge)
			w.WriteHeader(http.StatusUnauthorized)
			return true
		}
		return methodIn(body) == "tools/call" && sayNothing(w, r, body)
	})
}

// Without principals a task is told of to who made it, and to whom the pool takes; who is
// refused learns how to log in, and nothing of the task.
func TestTaskIsToldToWhomThePoolTakes(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, nil)
	f.guarded("one", "two")
	id := f.made("Authorization", "Bearer one")
	f.look(id, "Authorization", "Bearer one")
	if n := len(f.seen.of("server/discover")); n != 0 {
		t.Errorf("of the creator's own token the upstream was asked %d times", n)
	}
	for range 3 {
		f.look(id, "Authorization", "Bearer two")
	}
	asked := f.seen.of("server/discover")
	if len(asked) != 2 || asked[0].header.Get("Authorization") != "" || asked[1].header.Get("Authorization") != "Bearer two" ||
		asked[1].header.Get("Mcp-Method") != "server/discover" || asked[1].header.Get("Mcp-Name") != "" {
		t.Errorf("the upstream was asked %+v, want once without a token and once with the poller's own", asked)
	}
	gone := f.made("Authorization", "Bearer one")
	f.expire(gone)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		for _, header := range [][]string{{"Authorization", "Bearer stolen"}, nil} {
			var told []string
			for _, id := range []string{id, gone} {
				r := f.modern(method, id, byID(id)+`,"inputResponses":{}`, header...)
				if r.status != http.StatusUnauthorized || !strings.HasPrefix(r.header.Get("WWW-Authenticate"), "Bearer resource_metadata=") {
					t.Errorf("%s with %v: got %v %v", method, header, r, r.header)
				}
				told = append(told, r.String())
			}
			if told[0] != told[1] {
				t.Errorf("%s with %v: a task that is there is told by %s, one that is not by %s", method, header, told[0], told[1])
			}
		}
	}
	if r := f.modern("subscriptions/listen", "", `"notifications":{"taskIds":["`+id+`"]}`, "Authorization", "Bearer stolen"); r.status != http.StatusUnauthorized {
		t.Errorf("a subscription: %v", r)
	}
	if v := f.look(id, "Authorization", "Bearer one"); v.Status != "working" {
		t.Errorf("the task is %s", v.Status)
	}
	r := f.poll(gone, "Authorization", "Bearer two")
	if m := r.message(t); r.status != http.StatusOK || m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("a task that is gone, with a good token: %v", r)
	}
}

// expire has the store forget a task, one of two whose calls are held.
func (f *upgraded) expire(id string) {
	f.t.Helper()
	f.modern("tasks/cancel", id, byID(id), "Authorization", "Bearer one")
	f.eventually("the end of the call", func() bool { return f.tasks.Held() == 1 })
	if err := f.store.Delete(f.t.Context(), "upgrade:{"+id+"}"); err != nil {
		f.t.Fatal(err)
	}
}

// What was said counts for a while, and all who ask at once are one question.
func TestWordOfThePoolIsKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.guarded("one", "two")
		id := f.made("Authorization", "Bearer one")
		asked := func() (with int) {
			for _, question := range f.seen.of("server/discover") {
				if question.header.Get("Authorization") != "" {
					with++
				}
			}
			return with
		}
		var polls sync.WaitGroup
		for range 10 {
			polls.Go(func() { f.poll(id, "Authorization", "Bearer two") })
		}
		polls.Wait()
		time.Sleep(29 * time.Second)
		f.look(id, "Authorization", "Bearer two")
		if asked() != 1 {
			t.Errorf("asked %d times within 30s", asked())
		}
		time.Sleep(time.Second)
		f.look(id, "Authorization", "Bearer two")
		if asked() != 2 {
			t.Errorf("asked %d times, want anew after 30s", asked())
		}
		refused := func() {
			if r := f.poll(id, "Authorization", "Bearer three"); r.status != http.StatusUnauthorized {
				t.Errorf("got %v", r)
			}
		}
		refused()
		refused()
		f.guarded("one", "two", "three")
		time.Sleep(5 * time.Second)
		f.look(id, "Authorization", "Bearer three")
		if asked() != 4 {
			t.Errorf("asked %d times, want once for a refusal and once after 5s", asked())
		}
		if without := len(f.seen.of("server/discover")) - asked(); without != 2 {
			t.Errorf("asked %d times without a token in 35s, want twice", without)
		}
	})
}

// While nobody can say, the client tries again.
func TestPollWaitsForTheWordOfThePool(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, nil)
	for _, status := range []int{http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusFound} {
		f.answers(sayResult(done))
		id := f.made("Authorization", "Bearer one")
		f.servers[0].inject(sayStatus(status, "text/plain", "no"))
		f.poll(id, "Authorization", "Bearer two").fails(t, http.StatusServiceUnavailable, -31503, "no_upstream", true)
		f.look(id, "Authorization", "Bearer one")
		f.servers[0].inject(looksAtTokens)
		f.look(id, "Authorization", "Bearer "+http.StatusText(status))
	}
	f.answers(sayResult(done))
	id := f.made("Authorization", "Bearer one")
	f.servers[0].kill()
	f.poll(id, "Authorization", "Bearer nobody knows").fails(t, http.StatusServiceUnavailable, -31503, "no_upstream", true)
}

// With principals no upstream is asked.
func TestWordOfThePoolIsNotAskedForInVain(t *testing.T) {
	f := newUpgraded(t, rigOptions{principals: true}, func(r *upgrade.Rule) { r.LivePerPrincipal = 0 })
	f.guarded("one")
	id := f.made(userHeader, "alice", "Authorization", "Bearer one")
	f.look(id, userHeader, "alice", "Authorization", "Bearer other")
	if n := len(f.seen.of("server/discover")); n != 0 {
		t.Errorf("asked %d times", n)
	}
}

// Where berth itself authorises calls no upstream sees the caller's token, and so none
// vouches for another one.
func TestNobodyVouchesForATokenThatBerthReplaces(t *testing.T) {
	f := newUpgraded(t, rigOptions{endpoint: func(ep *proxy.Endpoint) {
		ep.Authorization = &proxy.Authorization{Value: func() string { return "Bearer berths" }}
	}}, nil)
	f.guarded("berths")
	id := f.made("Authorization", "Bearer one")
	f.look(id, "Authorization", "Bearer one")
	for _, token := range []string{"two", "berths"} {
		if r := f.poll(id, "Authorization", "Bearer "+token); r.code() != -32602 {
			t.Errorf("another token, %s: %v", token, r)
		}
	}
}

// An id that leaks is of no use without a token, where upstreams ask for none to be
// discovered, too; and it does not show that there is such a task.
func TestTaskMadeWithATokenNeedsOne(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, nil)
	f.answers(sayNothing)
	id := f.made("Authorization", "Bearer one")
	gone := f.made("Authorization", "Bearer one")
	f.expire(gone)
	for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel"} {
		got := f.modern(method, id, byID(id)+`,"inputResponses":{}`)
		want := f.modern(method, gone, byID(gone)+`,"inputResponses":{}`)
		if got.status != want.status || got.String() != want.String() || !strings.Contains(got.String(), "-32602") {
			t.Errorf("%s: got %v, want %v, as of a task that is not there", method, got, want)
		}
	}
	if r := f.poll(id, "Authorization", "Bearer two"); !strings.Contains(r.body, "-32602") {
		t.Errorf("with a token that nobody looks at: %v", r)
	}
	f.look(id, "Authorization", "Bearer one")
}
