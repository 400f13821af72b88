package bulletin

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"berth/internal/api"
	"berth/internal/storage"
)

// What api.Berth.State may be.
const (
	Serving  = "serving"
	Draining = "draining"
	Gone     = "gone" // it has taken its leave
	Dead     = "dead" // it has said nothing for longer than its lease
)

const (
	tellEvery = 5 * time.Second
	lease     = 15 * time.Second // how long a berth that says nothing is taken for alive
	life      = 15 * time.Minute // how long its last word is kept
)

const list = "berths"

func key(name string) string { return "berth:" + name }

// Options are what a Board is made of.
type Options struct {
	Store *storage.Store   // shared by the berths
	Name  string           // of this berth, as no other one's
	Own   func() api.Berth // what this berth says of itself now, but for what the board knows; must not wait
	Log   *slog.Logger     // nil: discarded
}

// Board is where one berth tells of itself, and hears of the others. Its methods may be called
// concurrently.
type Board struct {
	o     Options
	log   *slog.Logger
	again chan struct{} // holds one: something has changed that others should know

	reading sync.Mutex // held while the store is read: who asks meanwhile is told the same

	mu     sync.Mutex // guards the fields below
	heard  []word     // of the others, as the store told last
	read   time.Time  // when the store was asked last
	failed error      // of that
	away   time.Time  // when the store last did not serve this board; zero: it always has
}

// word is what a berth said last, and when.
type word struct {
	api.Berth
	told time.Time // by this process's clock
	at   uint64    // its version in the store
	dead bool      // it had said nothing for longer than its lease when the store was read
}

// New returns a board, before the store runs. Run must be running for the others to hear of this berth.
func New(o Options) *Board {
	b := &Board{o: o, log: cmp.Or(o.Log, slog.New(slog.DiscardHandler)), again: make(chan struct{}, 1)}
	o.Store.OnRecover(b.Tell)
	return b
}

// Run tells of this berth until ctx ends, and then that it is gone.
func (b *Board) Run(ctx context.Context) error {
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	for {
		b.tell(ctx, b.Own())
		select {
		case <-ctx.Done():
			b.resign(ctx)
			return nil
		case <-b.again:
		case <-tick.C:
		}
	}
}

// Tell has the others be told at once what has changed.
func (b *Board) Tell() {
	select {
	case b.again <- struct{}{}:
	default: // the one that waits there will do
	}
}

// Own is what this berth says of itself now.
func (b *Board) Own() api.Berth {
	own := b.o.Own()
	own.Name, own.Told, own.Lease = b.o.Name, time.Now().UTC(), lease.Seconds()
	return own
}

// tell writes down what is said, and that there is something to read.
func (b *Board) tell(ctx context.Context, own api.Berth) {
	value, err := json.Marshal(own)
	if err == nil {
		err = b.o.Store.Each(ctx, []storage.Write{{
			Key: key(b.o.Name), Value: value, TTL: life, Over: true,
			List: list, Member: storage.Member{Name: b.o.Name, Left: life},
		}})
	}
	if err != nil && ctx.Err() == nil {
		b.mu.Lock()
		b.away = time.Now()
		b.mu.Unlock()
		b.log.Debug("what this berth says of itself was not taken", "error", err)
	}
}

// resign says that this berth is gone. Where that fails it will be taken for dead.
func (b *Board) resign(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	own := b.Own()
	own.State, own.Ready, own.Requests, own.Streams, own.Held, own.Sees = Gone, false, 0, 0, 0, nil
	b.tell(ctx, own)
}
