package proxy_test

import (
	"net/http"
	"strings"
	"syscall"
	"testing"

	"berth/internal/storage/redistest"
	"berth/proxy"
	"berth/proxy/outbound"
)

// What another berth told a session's client counts at this one, too.
func TestWhatASessionWasToldCountsAtAnyBerth(t *testing.T) {
	redis := redistest.Start(t)
	one := newUpgraded(t, rigOptions{store: openStore(t, redis.URL()), options: func(o *proxy.Options) { o.Rules[0].Tools = []string{"other"} }}, nil)
	two := newUpgraded(t, rigOptions{store: openStore(t, redis.URL()), options: func(o *proxy.Options) { o.Rules[0].Tools = []string{"other"} }}, nil)
	one.plainServer("2025-11-25", `{}`, `[]`, sayResult(plainResult))
	two.plainServer("2025-11-25", `{}`, `[]`, sayResult(plainResult))
	one.greet()
	if m := two.callAsTask(`{}`).message(t); m.Error == nil || m.Error.Code != -32601 {
		t.Errorf("got %+v", m)
	}
}

// Nobody knows the session: then it makes no difference that the call asks to be a task.
func TestACoreTaskOfAnUnknownSession(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, nil)
	f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		f.seen.note(r, body)
		w.WriteHeader(http.StatusNotFound)
		return true
	})
	if r := f.callAsTask(`{}`); r.status != http.StatusNotFound {
		t.Errorf("got %v", r)
	}
	if n := len(f.seen.of("tools/call")); n != 0 {
		t.Errorf("%d calls were sent", n)
	}
}

// A session whose server is gone has no place for a held call: its client begins anew.
func TestACoreTaskOfALostSession(t *testing.T) {
	f := newPlain(t, rigOptions{tcp: true, probe: true}, nil, sayResult(plainResult))
	f.lose(f.servers[0])
	f.legacy("s1", "ping", "") // finds out
	before := f.tasks.Held()
	if r := f.callAsTask(`{}`); r.status != http.StatusNotFound {
		t.Errorf("got %v", r)
	}
	if held := f.tasks.Held(); held != before {
		t.Errorf("%d calls are held", held)
	}
}

// A session that moves takes its calls along, also those that are to be held: where the
// upstream is known to be gone, and where another berth has moved the session.
func TestACoreTaskInASessionThatHasMoved(t *testing.T) {
	who := message("tools/call", `"name":"who","task":{}`)
	t.Run("is moved for it", func(t *testing.T) {
		f := newUpgraded(t, reinit(rigOptions{tcp: true, probe: true, size: 2}), nil)
		session := f.initialize()
		f.lose(f.servers[0])
		u := f.pool.Upstreams()[0]
		f.eventually("a refusal", func() bool {
			_ = outbound.Probe(f.outbound)(t.Context(), u)
			f.pool.FellSilent(u, syscall.ECONNREFUSED)
			return u.Refuses()
		})
		id := f.coreHandle(f.do(f.request(t.Context(), http.MethodPost, who, legacyHeader(session)...))).TaskID
		if got := f.outcome(id); !strings.Contains(got, `"instance":"b"`) {
			t.Errorf("got %s", got)
		}
	})
	t.Run("was moved by another", func(t *testing.T) {
		redis := redistest.Start(t)
		f := newUpgraded(t, reinit(rigOptions{tcp: true, size: 2, store: openStore(t, redis.URL())}), nil)
		session := f.initialize()
		f.who(session) // is near now
		o := reinit(rigOptions{size: 2, store: openStore(t, redis.URL())})
		f.servers[0].Restart()
		if who := f.second(o).who(session); who != "b" {
			t.Fatalf("moved to %q", who)
		}
		id := f.coreHandle(f.do(f.request(t.Context(), http.MethodPost, who, legacyHeader(session)...))).TaskID
		if got := f.outcome(id); !strings.Contains(got, `"instance":"b"`) {
			t.Errorf("got %s", got)
		}
	})
}
