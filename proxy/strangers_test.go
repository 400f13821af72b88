package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
)

var (
	mine     = []string{"X-Api-Key", "mine"}
	stranger = []string{"X-Api-Key", "theirs"}
)

// Every request about a task treats one who has other credentials, which the pool does not
// look at, as it does for an id that nobody has.
func TestStrangerLearnsNothingOfATask(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, nil)
	f.answers(sayNothing)
	id := f.made(mine...)
	for _, header := range [][]string{stranger, nil} {
		for _, method := range []string{"tasks/get", "tasks/update", "tasks/cancel", "tasks/result", "tasks/delete", "tasks/list"} {
			got := f.modern(method, id, byID(id)+`,"inputResponses":{}`, header...)
			none := neverMade(f)
			if want := f.modern(method, none, byID(none)+`,"inputResponses":{}`, header...); got.String() != want.String() {
				t.Errorf("%s with %v: got %v, and for an id that nobody has %v", method, header, got, want)
			}
			core := f.do(f.request(t.Context(), http.MethodPost, message(method, byID(id)), append(legacyHeader(""), header...)...))
			if core.code() == 0 && method != "tasks/list" || strings.Contains(core.body, id) {
				t.Errorf("%s of 2025-11-25 with %v: got %v", method, header, core)
			}
		}
	}
	if v := f.look(id, mine...); v.Status != "working" {
		t.Errorf("the task is %s", v.Status)
	}
}

// Where the pool refuses his credentials he gets that refusal for any id, also for one that
// is none of berth's.
func TestRefusedStrangerLearnsNothingOfATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.answers(sayNothing)
		id := f.made(mine...)
		for _, s := range f.servers {
			s.inject(sayRefusal(http.StatusUnauthorized, jsonType, `{}`))
		}
		for _, ask := range []func(id string) reply{
			func(id string) reply { return f.modern("tasks/get", id, byID(id), stranger...) },
			func(id string) reply {
				return f.do(f.request(t.Context(), http.MethodPost, message("tasks/get", byID(id)), append(legacyHeader(""), stranger...)...))
			},
		} {
			got, want := ask("nobodys"), ask(id)
			if got.String() != want.String() || got.status != http.StatusUnauthorized ||
				got.header.Get("WWW-Authenticate") != want.header.Get("WWW-Authenticate") {
				t.Errorf("got %v, and for a task of another %v", got, want)
			}
		}
	})
}

func TestStrangerIsNotToldOnASubscription(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, nil)
		f.answers(sayNothing)
		id := f.made(mine...)
		filter := `{"taskIds":["` + id + `"]}`
		own, strange := f.subscribe("1", filter, mine...), f.subscribe("2", filter, stranger...)
		synctest.Wait()
		f.modern("tasks/cancel", id, byID(id), mine...)
		time.Sleep(time.Minute)
		synctest.Wait()
		if got := own.told(); len(got) == 0 {
			t.Error("the creator is told nothing")
		}
		if got := strange.told(); len(got) != 0 {
			t.Errorf("a stranger is told %v", got)
		}
	})
}

// Who knows a session but not what its calls were made with hears nothing of their tasks
// on its streams, and cannot answer in them.
func TestStrangerInASessionHasNoPartInItsTasks(t *testing.T) {
	f := newSessionRig(t, rigOptions{})
	own, strange := f.stand(f.session, mine...), f.stand(f.session, stranger...)
	id := f.errand(askOne, mine...)
	ask := f.asks(id, 1)[0]
	if r := f.respond(f.session, ask, `"result":{"action":"decline"}`, stranger...); r.status != http.StatusAccepted {
		t.Errorf("a stranger's answer: got %v, want 202, as for what nobody waits for", r)
	}
	if got := f.status(id); got != "input_required" {
		t.Fatalf("after a stranger's answer the task is %s", got)
	}
	if r := f.respond(f.session, ask, `"result":{"action":"accept"}`, mine...); r.status != http.StatusAccepted {
		t.Errorf("the answer: got %v", r)
	}
	if got := f.answersOf(id); got != `[{"action":"accept"}]` {
		t.Errorf("the tool got %s", got)
	}
	f.eventually("the end told", func() bool {
		told, _ := own.statuses()
		return len(told) > 0 && told[len(told)-1] == "completed"
	})
	if told, _ := strange.statuses(); len(told) != 0 {
		t.Errorf("a stranger was told %v", told)
	}
}

// Nor does he take what is told of them from those who made them: at one berth, or at
// another one on the same store.
func TestStrangerInASessionTakesNoStatusAway(t *testing.T) {
	f, g, _ := newSessionPair(t)
	strange, own := f.stand(f.session, stranger...), g.stand(f.session, mine...)
	completed := func(s *standing) bool {
		told, _ := s.statuses()
		return slices.Contains(told, "completed")
	}
	f.errand(`"seconds":0.5`, stranger...)
	f.eventually("the stranger's own end", func() bool { return completed(strange) })
	if told, _ := own.statuses(); len(told) != 0 {
		t.Errorf("told %v of the stranger's task", told)
	}
	f.errand(`"seconds":0.5`, mine...)
	f.eventually("the end of the other", func() bool { return completed(own) })
	here := f.stand(f.session, mine...)
	own.leave()
	<-own.over
	f.errand(`"seconds":0.5`, mine...)
	f.eventually("an end at the stranger's berth", func() bool { return completed(here) })
}

// A token that is refreshed while a stream stands makes another stream of the same caller:
// each message goes down one of the two, still.
func TestStatusIsToldOnOneStreamOfACallerWithFreshCredentials(t *testing.T) {
	old, fresh := "Bearer "+tokenOf("alice", "1"), "Bearer "+tokenOf("alice", "2")
	f := newSessionRig(t, rigOptions{})
	f.servers[0].inject(onMethod("ping", takesOnly(bears{"Authorization: " + old, "Authorization: " + fresh})))
	one, two := f.stand(f.session, "Authorization", old), f.stand(f.session, "Authorization", fresh)
	id := f.errand(askOne, "Authorization", old)
	f.respond(f.session, f.asks(id, 1)[0], `"result":{}`, "Authorization", fresh)
	f.reaches(id, "completed")
	ends := func() (n int) {
		for _, s := range []*standing{one, two} {
			told, _ := s.statuses()
			n += strings.Count(strings.Join(told, " "), "completed")
		}
		return n
	}
	f.eventually("the end told", func() bool { return ends() > 0 })
	two.leave()
	<-two.over
	one.leave()
	<-one.over
	if n := ends(); n != 1 {
		t.Errorf("told %d times, want once", n)
	}
}

// What one caller was told of a server's own task is not told again at another URL.
func TestTaskLastSeenIsToldAtTheSameURLOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{})
		id := f.newTask(3600)
		at := func(query string) reply {
			req := f.pollAs(t.Context(), "1", id)
			req.URL.RawQuery = query
			return f.do(req)
		}
		at("api_key=one")
		f.servers[0].kill()
		if r := at("api_key=one"); r.status != http.StatusOK {
			t.Errorf("the same key: got %v", r)
		}
		if r := at("api_key=two"); r.status != http.StatusServiceUnavailable {
			t.Errorf("another key: got %v", r)
		}
	})
}

// What it costs to find out who may ask is bounded: who tries token after token asks
// upstreams no more often than he may name ids that nobody has.
func TestTriesOfCredentialsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{options: func(o *proxy.Options) { o.Limits.UnknownIDs = 1 }}, nil)
		f.guarded("one")
		id := f.made("Authorization", "Bearer one")
		const tries = 30
		shed := 0
		for i := range tries {
			r := f.poll(id, "Authorization", "Bearer guess "+strings.Repeat("x", i))
			if r.status == http.StatusTooManyRequests {
				shed++
			}
		}
		asked := len(f.seen.of("server/discover"))
		if shed != tries-10 || asked != 1+10 {
			t.Errorf("%d of %d tries were shed, and upstreams asked %d times; want 10 tries and one question without", shed, tries, asked)
		}
		f.look(id, "Authorization", "Bearer one")
	})
}
