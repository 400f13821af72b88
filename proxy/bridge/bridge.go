package bridge

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/exchange"
	"berth/internal/relay"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/bridge/coretasks"
	"berth/proxy/bridge/sessions"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/routing/profile"

	"go.opentelemetry.io/otel/metric"
)

// Isolation says who may come to share a session.
type Isolation = sessions.Isolation

// Options are what a Bridge is made of. A duration of 0 is its default.
type Options struct {
	Endpoint  *inbound.Endpoint    // whose pool's upstreams are shown; required
	Keys      *seal.Keyring        // seals what clients carry; required
	Store     relay.Store          // tells berths which of them has a call, and what tasks ask; nil: there is one berth
	Relay     Relay                // reaches the other berths; nil: there are none
	Isolation Isolation            // "": sessions.PerPrincipal
	Sessions  int                  // at most, at each upstream; 0: 1,000
	Idle      time.Duration        // after which a session that nobody uses is ended; 5 min
	Question  time.Duration        // how long a client has to answer; 10 min
	TaskID    int                  // longest id of a task, in bytes; 0: 256
	Logger    *slog.Logger         // nil: discarded
	Meter     metric.MeterProvider // nil: nothing is measured
}

// Relay passes requests on to other berths. A *relay.Mailbox is one.
type Relay interface {
	Name() string
	Pass(ctx context.Context, to string, request *exchange.Request, wait time.Duration) (*wire.Response, error)
}

// Bridge shows the upstreams of one pool. Its methods may be called concurrently.
type Bridge struct {
	now     atomic.Pointer[Options]
	name    string // of this berth, in what clients carry
	metrics metrics
	notes   *coretasks.Notes
	clock   *clock // of how long clients have to answer
	word    word   // of other berths

	mu    sync.Mutex // guards faces
	faces map[string]*face
}

// New returns a bridge. Run ends the sessions that nobody uses.
func New(o Options) *Bridge {
	name := rand.Text()
	if o.Relay != nil {
		name = o.Relay.Name()
	}
	b := &Bridge{name: name, clock: newClock(o.Store), word: make(word, 1), faces: map[string]*face{}}
	b.Change(o)
	var records storage.Engine = o.Store
	if o.Store == nil {
		records, _ = storage.Open("memory:", storage.Options{}) // it fails for URLs that are none
	}
	b.metrics = newMetrics(o.Meter, b)
	b.notes = coretasks.NewNotes(records, func() *seal.Keyring { return b.options().Keys }, b.metrics.questions)
	return b
}

// Change has the bridge go on by other options: of the same pool, store and berth. Sessions that are
// open stay; who may not share one any more is lent another.
func (b *Bridge) Change(o Options) {
	o.Isolation = cmp.Or(o.Isolation, sessions.PerPrincipal)
	o.Sessions = cmp.Or(o.Sessions, 1000)
	o.Idle = cmp.Or(o.Idle, 5*time.Minute)
	o.Question = cmp.Or(o.Question, 10*time.Minute)
	o.TaskID = cmp.Or(o.TaskID, 256)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	b.now.Store(&o)
}

func (b *Bridge) options() *Options { return b.now.Load() }

// To implements inbound.Bridge.
func (b *Bridge) To(u *routing.Upstream) exchange.Sender {
	if !b.Bridges(u) {
		return b.options().Endpoint.Client
	}
	return b.faceOf(u)
}

// Bridges implements inbound.Bridge.
func (b *Bridge) Bridges(u *routing.Upstream) bool {
	modern, known := u.SpeaksModern()
	return !known || !modern
}

// OnTo implements inbound.Bridge.
func (b *Bridge) OnTo(u *routing.Upstream) exchange.Sender { return b.faceOf(u) }

// Doubt implements inbound.Bridge.
func (b *Bridge) Doubt(ctx context.Context, u *routing.Upstream, out *exchange.Request, response *wire.Response, wait time.Duration) (*wire.Response, error) {
	if u.Era == profile.SpokenModern || b.Bridges(u) {
		return response, nil
	}
	return b.faceOf(u).doubt(ctx, out, response, wait)
}

// faceOf returns the face of an upstream, as its pool's list has it now.
func (b *Bridge) faceOf(u *routing.Upstream) *face {
	b.mu.Lock()
	defer b.mu.Unlock()
	f := b.faces[u.Name]
	if f == nil || f.u.Upstream != u {
		f = newFace(b, u, f)
		b.faces[u.Name] = f
	}
	return f
}

// Tied is how many calls wait for their clients that go on at this berth or nowhere. A call at a
// server that berth runs is the server's to count.
func (b *Bridge) Tied() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faces {
		n += f.calls.Tied()
	}
	return n
}

// sweepInterval is how often sessions that nobody uses are looked for.
const sweepInterval = 15 * time.Second

// Close ends what is measured. Call it after Run, or in its place.
func (b *Bridge) Close() { b.metrics.end() }

// Run ends sessions that nobody uses until ctx ends, and all that are left then. It hears meanwhile which calls other berths take on.
func (b *Bridge) Run(ctx context.Context) error {
	var hearing sync.WaitGroup
	defer hearing.Wait()
	hearing.Go(func() { b.hear(ctx) })
	tick := time.NewTicker(sweepInterval)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			b.sweep(ctx, time.Now().Add(-b.options().Idle))
		case <-ctx.Done():
			b.sweep(context.WithoutCancel(ctx), time.Now())
			return nil
		}
	}
}

// sweep ends the sessions that nobody uses and nobody has used since, and forgets upstreams that have
// left the pool with the last of theirs.
func (b *Bridge) sweep(ctx context.Context, since time.Time) {
	b.mu.Lock()
	var idle []*sessions.Session
	for name, f := range b.faces {
		idle = append(idle, f.sessions.TakeIdle(since)...)
		if f.isEmpty() && f.u.Pool().Find(name) == nil {
			delete(b.faces, name)
		}
	}
	b.mu.Unlock()
	sessions.EndAll(ctx, idle)
}
