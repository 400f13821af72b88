package upgrade

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/trouble"
	"berth/routing"

	"go.opentelemetry.io/otel/metric"
)

const (
	testLease = 3 * time.Second
	poolName  = "pool"
)

var somebody = Asker{Pool: poolName, Principal: "alice"}

func openStore(t testing.TB, url string, o storage.Options) *storage.Store {
	t.Helper()
	store, err := storage.Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// memory is a store in memory that is closed when the test ends.
func memory(t testing.TB) *storage.Store {
	t.Helper()
	store := openStore(t, "memory:", storage.Options{})
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func givenKeys(t testing.TB) *seal.Keyring {
	t.Helper()
	keys, err := seal.NewKeyring(make([]byte, seal.MinSecret))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// berth is one process of a deployment: its tasks, its line to the store, and its way to
// the upstreams.
type berth struct {
	*Tasks
	line *line
	tool *tool
	end  context.CancelFunc
	over chan struct{} // closed when Run has returned
}

// settings are what berths of a test differ by.
type settings struct {
	at     *cell
	shared bool // pretend that other processes see the store, too
	keys   *seal.Keyring
	own    bool // berth authorises calls itself
	lease  time.Duration
	log    *slog.Logger
	meter  metric.MeterProvider
	book   *trouble.Book
	kept   Bounds
	old    *oldServer // calls go there; nil: to the tool

	send   func(ctx context.Context, u *routing.Upstream, c *Call) (Exchange, error) // in place of the tool; nil: it is the tool
	ask    func(ctx context.Context, u *routing.Upstream, c *Call) (Exchange, error) // nil: upstreams make no tasks
	giveUp func(ctx context.Context, u *routing.Upstream, c *Call) error             // nil: upstreams hold no calls
	isMoot func(ctx context.Context, u *routing.Upstream, c *Call) bool              // likewise
}

// newBerth returns a berth that does not run yet.
func newBerth(s settings, up *tool) *berth {
	b := &berth{line: newLine(s.at, s.shared), tool: up}
	var upstreams []*routing.Upstream
	for _, name := range up.upstreams {
		upstreams = append(upstreams, &routing.Upstream{Name: name, URL: &url.URL{}})
	}
	if s.lease == 0 {
		s.lease = testLease
	}
	way := Transport{Send: func(ctx context.Context, u *routing.Upstream, c *Call, _ int64) (Exchange, error) {
		if s.send != nil {
			return s.send(ctx, u, c)
		}
		return up.send(ctx, b, u, c)
	}}
	if s.ask != nil {
		way.Ask = func(ctx context.Context, u *routing.Upstream, c *Call, _ int64) (Exchange, error) {
			if !b.line.stand() {
				return nil, errDead
			}
			return s.ask(ctx, u, c)
		}
	}
	way.GiveUp, way.IsMoot = s.giveUp, s.isMoot
	if s.old != nil {
		way = s.old.line(b)
	}
	b.Tasks = newTasks(Options{
		Keys: s.keys, Lease: s.lease, Logger: s.log, Meter: s.meter, Kept: s.kept, Troubles: s.book,
		Pools: []Destination{{
			Routing:        routing.NewPool(routing.PoolOptions{Name: poolName, Upstreams: upstreams}),
			Transport:      way,
			OwnCredentials: s.own,
		}},
	}, b.line)
	return b
}

// run has the berth take part.
func (b *berth) run() {
	ctx, end := context.WithCancel(context.Background())
	b.end, b.over = end, make(chan struct{})
	go func() {
		defer close(b.over)
		_ = b.Run(ctx)
	}()
}

// stop ends Run, as the end of the process does after a drain.
func (b *berth) stop() {
	b.end()
	<-b.over
}

// kill ends the process as kill -9 does: from now on it reaches neither the store nor an
// upstream.
func (b *berth) kill() {
	b.line.die()
	b.clear()
}

// clear ends the goroutines of a berth that is dead.
func (b *berth) clear() {
	b.runner.Calls.CutAll()
	b.stop()
	b.runner.Calls.Empty(context.Background())
}

// startBerths returns that many berths on one store, which run until the test ends.
func startBerths(t testing.TB, n int, s settings, up *tool) []*berth {
	t.Helper()
	if s.at == nil {
		s.at = newCell(memory(t))
	}
	if s.keys == nil {
		s.keys = givenKeys(t)
	}
	s.shared = s.shared || n > 1
	var berths []*berth
	for range n {
		b := newBerth(s, up)
		berths = append(berths, b)
		b.run()
		t.Cleanup(b.kill)
	}
	return berths
}

// rule is one that makes a task of every call.
func rule(change func(r *Rule)) *Rule {
	r := &Rule{Tools: []string{"*"}, TTL: time.Hour, Timeout: 10 * time.Minute, PollInterval: time.Second, MaxResult: 1 << 20}
	if change != nil {
		change(r)
	}
	return r
}

// creation is a call to the tool with an argument that tells it what to do.
func creation(r *Rule, argument string) Creation {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"work","arguments":{"do":%q}}}`, argument)
	return Creation{Rule: r, Tool: "work", Version: "2026-07-28", Asker: somebody, Call: &Call{
		Body: []byte(body), Envelope: Envelope{Header: Pairs{"Authorization", "Bearer of the caller"}},
	}}
}

// hand makes a task and starts its call, as the proxy does where the client gets the
// handle at once.
func (b *berth) hand(t testing.TB, r *Rule, argument string) string {
	t.Helper()
	h, err := b.Maker.Create(context.Background(), creation(r, argument))
	if err != nil {
		t.Fatalf("creating a task: %v", err)
	}
	h.Start(nil)
	return handle(h)
}

// handle is what a client knows of a task that it was handed.
func handle(h *Held) (id string) {
	_ = h.HandOut(func() error { // it fails as this does
		id = h.ID
		return nil
	})
	h.Handed()
	return id
}

// see polls a task.
func (b *berth) see(t testing.TB, id string) View {
	t.Helper()
	v, err := b.Reader.Get(context.Background(), id, somebody)
	if err != nil {
		t.Fatalf("polling %s: %v", id, err)
	}
	return v
}

// mustState polls a task and fails the test unless it is in that state.
func (b *berth) mustState(t testing.TB, id string, want State) View {
	t.Helper()
	v := b.see(t, id)
	if v.State != want {
		t.Fatalf("the task is %s (%s), want %s", v.State, v.Message, want)
	}
	return v
}

// failure is what a failed task says.
type failure struct {
	Code    int
	Message string
	Data    struct {
		Reason          string
		MayHaveExecuted *bool
	}
}

func (v View) failure(t testing.TB) failure {
	t.Helper()
	var f failure
	if v.State != Failed || json.Unmarshal(v.Outcome, &f) != nil {
		t.Fatalf("the task is %s with %s, want a failure", v.State, v.Outcome)
	}
	return f
}

// wasLostUnsent reports whether a task failed with its holder though its call was not sent.
func (v View) wasLostUnsent() bool {
	var f failure
	return v.State == Failed && json.Unmarshal(v.Outcome, &f) == nil &&
		f.Data.Reason == mcp.ReasonHolderLost && f.Data.MayHaveExecuted != nil && !*f.Data.MayHaveExecuted
}

// inputs are answers in order: key, value, key, value.
func inputs(pairs ...string) []inquiry.Input {
	var all []inquiry.Input
	for pair := range slices.Chunk(pairs, 2) {
		all = append(all, inquiry.Input{Key: pair[0], Value: []byte(pair[1])})
	}
	return all
}

// members are those of a list, whatever the berth's line is like.
func (b *berth) members(t testing.TB, list string) []string {
	t.Helper()
	members, err := b.line.at.Load().Members(context.Background(), list)
	if err != nil {
		t.Fatal(err)
	}
	return members
}

// noted is a log that a test may read.
type noted struct {
	mu    sync.Mutex
	lines []string
}

func (n *noted) add(format string, args ...any) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, fmt.Sprintf(format, args...))
}

func (n *noted) all() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.lines)
}
