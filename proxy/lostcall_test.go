package proxy_test

import (
	"net/http"
	"testing"

	"berth/internal/limit"
	"berth/internal/storage/redistest"
	"berth/proxy"
	"berth/proxy/inbound"
	"berth/upgrade"
)

const aJob = `"name":"errand","task":{},"arguments":{"label":"job","steps":1}`

// does makes a task through a berth, and waits for its end.
func (f *sessionRig) does(berth *rig, header ...string) {
	f.t.Helper()
	r := berth.do(berth.request(f.t.Context(), http.MethodPost, message("tools/call", aJob), append(legacyHeader(f.session), header...)...))
	m := r.message(f.t)
	if r.status != http.StatusOK || m.Result == nil || m.Result.Task == nil {
		f.t.Fatalf("a call that becomes a task: got %v", r)
	}
	f.reaches(m.Result.Task.TaskID, "completed")
}

// lostAtTwo is two berths before two instances, which have led tasks in a session to the first of these by the time that lose has it
// lose the session.
func lostAtTwo(t *testing.T, reinit bool, lose func(f, g *rig)) (f *sessionRig, g *rig) {
	t.Helper()
	redis := redistest.Start(t)
	moves := func(ep *proxy.Endpoint) { ep.Reinit = reinit }
	f = newSessionRig(t, rigOptions{tcp: true, size: 2, store: openStore(t, redis.URL()), endpoint: moves})
	g = f.beside(openStore(t, redis.URL()), func(o *rigOptions) { o.endpoint = moves })
	f.does(f.rig)
	f.does(g)
	lose(f.rig, g)
	return f, g
}

// lostWithoutADrain are ways in which an instance loses a session at two berths.
var lostWithoutADrain = map[string]func(f, g *rig){
	"killed":    func(f, g *rig) { f.loseAt(g, f.servers[0]) },
	"restarted": func(f, _ *rig) { f.servers[0].Restart() },
	"restarted, and says 400": func(f, _ *rig) {
		losses["restarted, and says 400"](f, f.servers[0])
	},
}

// A call that becomes a task moves a lost session as a plain one does: no task fails for it, at no berth.
func TestACallThatBecomesATaskMovesItsSession(t *testing.T) {
	for name, lose := range lostWithoutADrain {
		t.Run(name, func(t *testing.T) {
			f, g := lostAtTwo(t, true, lose)
			f.does(f.rig)
			f.does(g)
			if opened, ran := f.calls("initialize"), f.servers[1].Executions(); opened != 2 || ran != 2 {
				t.Errorf("%d sessions were opened, and %d calls came to the second instance; want 2 and 2", opened, ran)
			}
			f.eventually("no calls that are held", func() bool { return f.tasks.Held() == 0 })
		})
	}
}

// Where sessions do not move, its client is told at once to begin a new one.
func TestACallThatBecomesATaskLearnsThatItsSessionIsLost(t *testing.T) {
	for name, lose := range lostWithoutADrain {
		t.Run(name, func(t *testing.T) {
			f, g := lostAtTwo(t, false, lose)
			for _, berth := range []*rig{f.rig, g} {
				if r := berth.legacy(f.session, "tools/call", aJob); r.status != http.StatusNotFound || r.message(t).Error.Code != -32600 {
					t.Errorf("got %v, want 404", r)
				}
			}
			f.eventually("no calls that are held", func() bool { return f.tasks.Held() == 0 })
		})
	}
}

// What such a call was named and counted by is so once.
func TestACallThatMovesItsSessionIsCountedOnce(t *testing.T) {
	f := newSessionRig(t, rigOptions{endpoint: func(ep *proxy.Endpoint) {
		ep.Reinit = true
		ep.Rates = []inbound.RateRule{{Limit: limit.NewShared("errands", 1.0/3600, 2, nil), Tools: []upgrade.Glob{"errand"}, Per: inbound.PerPool}}
	}})
	f.servers[0].Restart()
	f.does(f.rig, "Idempotency-Key", "first")
	f.does(f.rig, "Idempotency-Key", "first")
	f.does(f.rig, "Idempotency-Key", "second")
	if n := f.servers[0].Executions(); n != 2 {
		t.Errorf("%d calls came to the instance, want 2", n)
	}
}

// What was sent and is not answered may run: its task fails, and the session stays.
func TestACallThatBecomesATaskIsNotSentTwice(t *testing.T) {
	f := newSessionRig(t, rigOptions{tcp: true, size: 2, endpoint: func(ep *proxy.Endpoint) { ep.Reinit = true }})
	f.servers[0].inject(onlyOnce(onMethod("tools/call", reset)))
	f.reaches(f.errand(`"steps":1`), "failed")
	if n := f.servers[1].Calls("initialize"); n != 0 {
		t.Errorf("%d sessions were opened elsewhere", n)
	}
}
