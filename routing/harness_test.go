package routing_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"berth/internal/mcp"
	"berth/internal/storage"
	"berth/routing"
	"berth/routing/claim"
	"berth/routing/health"
	"berth/sticky"
)

var errBroken = errors.New("broken")

func upstreams(names ...string) []*routing.Upstream {
	var list []*routing.Upstream
	for _, name := range names {
		list = append(list, &routing.Upstream{Name: name})
	}
	return list
}

// poolOf is a pool of upstreams with these names. Nobody probes them.
func poolOf(names ...string) *routing.Pool {
	return routing.NewPool(routing.PoolOptions{Name: "p", Upstreams: upstreams(names...)})
}

// mute is a probe that nothing answers.
func mute(context.Context, *routing.Upstream) error { return errBroken }

// eject takes u out of the choice as failures in a row do.
func eject(t *testing.T, p *routing.Pool, u *routing.Upstream) {
	t.Helper()
	for range 5 {
		p.Failed(u, health.FailedConnect, errBroken)
	}
	if !u.Ejected() {
		t.Fatalf("%s is not ejected", u.Name)
	}
}

// fleet is a router with upstreams that answer when they are asked.
type fleet struct {
	*routing.Router
	store *storage.Store

	mu     sync.Mutex        // guards the fields below
	holds  map[string]string // task or session → upstream
	silent map[string]bool   // upstreams that do not answer
	asked  []string          // "upstream id", in order
}

// newFleet is a fleet of a, b and c on the store that url names.
func newFleet(t *testing.T, url string) *fleet {
	t.Helper()
	store, err := storage.Open(url, storage.Options{})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	f := &fleet{store: store, holds: map[string]string{}, silent: map[string]bool{}}
	f.Router = f.berth("a", "b", "c")
	return f
}

// berth is a router of its own on the fleet's store, over upstreams of these names.
func (f *fleet) berth(names ...string) *routing.Router {
	pool := poolOf(names...)
	return &routing.Router{
		Pool:  pool,
		Guard: claim.Guard{Bindings: sticky.New(f.store, sticky.Options{Near: 100})},
		Asker: routing.NewAsker(pool),
	}
}

func (f *fleet) ask(u *routing.Upstream, id string) routing.Verdict {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, u.Name+" "+id)
	switch {
	case f.silent[u.Name]:
		return routing.Unclear
	case f.holds[id] == u.Name:
		return routing.Knows
	}
	return routing.Denies
}

// give lets upstream hold a task or a session. Questions may be under way still.
func (f *fleet) give(id, upstream string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.holds[id] = upstream
}

// hush lets upstream answer no more.
func (f *fleet) hush(upstream string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.silent[upstream] = true
}

func (f *fleet) questions() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.asked)
}

// query is a request with these calls.
func (f *fleet) query(calls ...mcp.Call) routing.Query {
	return routing.Query{Calls: calls, Inquirer: inquirer{
		Task: func(_ context.Context, u *routing.Upstream, id string) routing.Verdict {
			return f.ask(u, id)
		},
		Session: func(_ context.Context, u *routing.Upstream) routing.Verdict {
			return f.ask(u, "session")
		},
	}}
}

// inquirer is a request that may ask for every id.
type inquirer routing.Questions

func (inquirer) Missing() error { return nil }

func (i inquirer) Questions() routing.Questions { return routing.Questions(i) }

// inSession is a request with these calls in a session.
func (f *fleet) inSession(calls ...mcp.Call) routing.Query {
	q := f.query(calls...)
	q.Session = "session"
	return q
}

// bind makes upstream the owner of what key names.
func (f *fleet) bind(t *testing.T, key sticky.Key, upstream string) {
	t.Helper()
	if err := f.Bindings.Bind(t.Context(), key, sticky.Binding{Upstream: upstream}, 0); err != nil {
		t.Fatalf("Bind: %v", err)
	}
}

// routes fails the test unless the request goes to upstream, found in source.
func routes(t *testing.T, r *routing.Router, q routing.Query, upstream string, source sticky.Source) routing.Decision {
	t.Helper()
	var d routing.Decision
	err := r.Decide(t.Context(), &q, &d)
	if err != nil || d.Owner == nil || d.Owner.Name != upstream || d.Source != source {
		t.Errorf("Decide: got owner %v, source %q, %v, want %s, %q", d.Owner, d.Source, err, upstream, source)
	}
	return d
}

// refuses fails the test unless the request cannot be routed because of want.
func refuses(t *testing.T, r *routing.Router, q routing.Query, want error) {
	t.Helper()
	var d routing.Decision
	err := r.Decide(t.Context(), &q, &d)
	if !errors.Is(err, want) {
		t.Errorf("Decide: got %v, %v, want %v", d.Owner, err, want)
	}
}

// unbound fails the test unless the request is work for anybody.
func unbound(t *testing.T, r *routing.Router, q routing.Query) routing.Decision {
	t.Helper()
	var d routing.Decision
	err := r.Decide(t.Context(), &q, &d)
	if err != nil || d.Owner != nil || d.Source != routing.SourcePicked {
		t.Errorf("Decide: got %v, %q, %v, want unbound work", d.Owner, d.Source, err)
	}
	return d
}

// modern is a call about a task, with the Tasks extension declared.
func modern(method, id string) mcp.Call {
	return mcp.Call{Method: method, TaskID: id, HasTaskID: true, Era: mcp.EraModern, DeclaresTasks: true}
}

// legacy is a call about a task without a session.
func legacy(method, id string) mcp.Call {
	return mcp.Call{Method: method, TaskID: id, HasTaskID: true, Era: mcp.EraLegacy}
}
