package routing

import (
	"testing"
	"time"
)

// What is foretold of work is what Await does with it: who gets it, or that it waits, or is turned away.
func TestProspectIsWhatAwaitDoes(t *testing.T) {
	pool := func(s Settings) *Pool {
		return NewPool(PoolOptions{Name: "p", Settings: s, Upstreams: []*Upstream{{Name: "a"}, {Name: "b", Backup: true}, {Name: "c"}}})
	}
	full := Settings{MaxInFlight: 1, Queue: 1, QueueTimeout: time.Millisecond}
	for name, c := range map[string]struct {
		settings Settings
		before   func(p *Pool)
		among    int
		waits    bool
		err      error
	}{
		"unbound":      {Settings{}, func(*Pool) {}, 2, false, nil},
		"one is left":  {Settings{}, func(p *Pool) { p.SetDrains(map[string]Drain{"a": {Since: time.Now()}}) }, 1, false, nil},
		"nobody":       {Settings{}, func(p *Pool) { p.Replace(nil) }, 0, false, ErrNoUpstream},
		"room":         {full, func(p *Pool) { p.Own(p.Find("a")) }, 1, false, nil},
		"full, waits":  {full, func(p *Pool) { p.Own(p.Find("a")); p.Own(p.Find("c")) }, 0, true, nil},
		"full for all": {Settings{MaxInFlight: 1}, func(p *Pool) { p.Own(p.Find("a")); p.Own(p.Find("c")) }, 0, false, ErrFull},
	} {
		p := pool(c.settings)
		c.before(p)
		o := p.Prospect(Work{Caller: "x"}, Terms{MayWait: true})
		if len(o.Among) != c.among || o.Waits != c.waits || o.Err != c.err {
			t.Errorf("%s: got %d, waits %v, %v", name, len(o.Among), o.Waits, o.Err)
		}
		lease, err := p.Await(t.Context(), Work{Caller: "x"}, nil)
		switch {
		case o.Waits:
			if err != ErrLate {
				t.Errorf("%s: it was told to wait, got %v", name, err)
			}
		case err != o.Err:
			t.Errorf("%s: got %v, was told %v", name, err, o.Err)
		case err == nil && lease.Upstream.Backup:
			t.Errorf("%s: got %s", name, lease.Upstream.Name)
		}
	}
}
