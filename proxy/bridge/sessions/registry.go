package sessions

import (
	"context"
	"slices"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/proxy/bridge/flow"
)

// Settings are what operators say of sessions.
type Settings struct {
	Isolation Isolation
	Most      int // sessions at an upstream
}

// Around is what a registry needs of what stands above it.
type Around interface {
	// Opened is told what an upstream said of itself: the result of an initialize.
	Opened(result []byte)

	// TaskAsks is told that a task of the upstream's, which core names there, asks something on the stream of the session that it lives in.
	// id is the raw JSON-RPC id of message; the upstream is answered in the name of who sends out.
	TaskAsks(ctx context.Context, out *exchange.Request, s *Session, core string, id, message []byte)

	// TaskWithdraws is told that the upstream wants no answer any more to what TaskAsks was told of under that id.
	TaskWithdraws(ctx context.Context, s *Session, core string, id []byte)

	// ToolsChanged is told when the upstream says that its tools have changed.
	ToolsChanged()

	// GiveUpOldest gives up a call that waits for its client, in a session that on says it may be, to make room. It
	// reports whether there is one.
	GiveUpOldest(on func(s *Session) bool) bool
}

// Registry holds the sessions that are open at an upstream, whichever list of its pool's that stands in. Its
// methods may be called concurrently.
type Registry struct {
	settings func() Settings
	around   Around
	replays  flow.Replays

	mu        sync.Mutex // guards the fields below
	shelves   map[string]*shelf
	open      int  // sessions, but for those that are parked
	parked    int  // sessions that tasks alone live in, and that count no more
	asksRoots bool // the upstream asks new sessions for roots, whatever they have declared
	awaited   bool // it had the time to show that
	// listeners are those who listen, by whose sessions they hear, each with its own session.
	listeners map[string]map[Listener]*Session
}

// NewRegistry returns a registry without sessions. settings tells what holds now.
func NewRegistry(settings func() Settings, around Around) *Registry {
	return &Registry{settings: settings, around: around, shelves: map[string]*shelf{}, listeners: map[string]map[Listener]*Session{}}
}

// Size is how many sessions are open, or being opened, and on how many shelves they stand.
func (reg *Registry) Size() (sessions, shelves int) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	return reg.open + reg.parked, len(reg.shelves)
}

// IsEmpty reports whether nothing is open, and nobody listens.
func (reg *Registry) IsEmpty() bool {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	return reg.open+reg.parked == 0 && len(reg.listeners) == 0
}

// TakeIdle takes the sessions off their shelves that nobody uses and nobody has used since, or is to use.
func (reg *Registry) TakeIdle(since time.Time) (idle []*Session) {
	reg.mu.Lock()
	defer reg.mu.Unlock()
	for _, s := range reg.shelves {
		for _, l := range slices.Clone(s.loans) {
			if l.users == 0 && (l.idle.Before(since) || l.isSpent()) && !l.tasks.any() {
				l.remove()
				idle = append(idle, l)
			}
		}
	}
	return idle
}

// EndAll ends sessions, some at a time.
func EndAll(ctx context.Context, loans []*Session) {
	var running sync.WaitGroup
	places := make(chan struct{}, 16)
	for _, l := range loans {
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			l.End(ctx)
		})
	}
	running.Wait()
}
