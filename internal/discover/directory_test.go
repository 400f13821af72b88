package discover_test

import (
	"context"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/discover"
	"berth/internal/realtest"
	"berth/internal/storage"
)

// peer is a berth's members, beside others on one store.
type peer struct {
	*discover.Members
	source told
	store  *storage.Store

	mu       sync.Mutex
	shown    string
	unlisted []string // instances that were given work before they were written down
}

func newStore(t *testing.T) *storage.Store {
	store, err := storage.Open("file:"+filepath.Join(t.TempDir(), "berth.db"), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return store
}

func newPeer(t *testing.T, store *storage.Store, linger time.Duration) *peer {
	source := make(told)
	p := runPeer(t, store, "", discover.Plan{Source: source, Key: "1", Rules: discover.Rules{Linger: linger, Silent: time.Hour, ForgetAfter: time.Hour}})
	p.source = source
	return p
}

// runPeer runs members that go by a plan. Those in owners own something, as the store has it.
func runPeer(t *testing.T, store *storage.Store, owners string, plan discover.Plan) *peer {
	p := &peer{store: store}
	p.Members = discover.New(discover.Options{
		Pool: "p", Directory: discover.NewDirectory(store, "p", nil), Changed: p.change,
		Holds: func(string) discover.Hold { return discover.Hold{Counted: time.Now()} },
		Owns:  func(_ context.Context, name string) bool { return slices.Contains(strings.Fields(owners), name) },
	})
	p.Follow(plan)
	var running sync.WaitGroup
	running.Go(func() { _ = p.Run(t.Context()) })
	t.Cleanup(running.Wait)
	return p
}

func (p *peer) change(all []discover.Instance, _ bool) {
	listed := p.listed()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.shown = worded(all)
	for _, i := range all {
		if !i.Draining && !strings.Contains(listed, i.Name) {
			p.unlisted = append(p.unlisted, i.Name)
		}
	}
}

func (p *peer) listed() string {
	entries, err := p.store.Members(context.Background(), "instances:p")
	if err != nil {
		return err.Error()
	}
	slices.Sort(entries)
	return strings.Join(entries, " ")
}

func (p *peer) await(t *testing.T, want string) {
	t.Helper()
	realtest.Eventually(t, want, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.shown == want
	})
}

// An instance is known to all berths before one of them gives it work.
func TestBerthsTellEachOtherBeforeAnInstanceIsGivenWork(t *testing.T) {
	store := newStore(t)
	a, b := newPeer(t, store, time.Hour), newPeer(t, store, time.Hour)
	b.source <- answer{names: "x"}
	b.await(t, "x")
	a.source <- answer{names: "x y"}
	a.await(t, "x, y")
	b.await(t, "x, y drains")
	b.source <- answer{names: "x y"}
	b.await(t, "x, y")
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unlisted != nil {
		t.Errorf("given work before others knew of them: %v", a.unlisted)
	}
}

// A berth that begins when an instance has left finds what is bound to it.
func TestABerthThatBeginsHearsOfThoseThatLeft(t *testing.T) {
	store := newStore(t)
	a := newPeer(t, store, time.Hour)
	a.source <- answer{names: "x y"}
	a.await(t, "x, y")
	a.source <- answer{names: "y"}
	a.await(t, "x drains, y")
	b := newPeer(t, store, time.Hour)
	b.await(t, "x drains, y drains")
	b.source <- answer{names: "y"}
	b.await(t, "x drains, y")
}

// Who is not known is looked for at once.
func TestSeekDoesNotWaitForANotice(t *testing.T) {
	store := newStore(t)
	b := newPeer(t, store, time.Hour)
	b.source <- answer{names: "x"}
	b.await(t, "x")
	writeDown(t, store, `{"name":"z","url":"http://z"}`)
	b.Seek(t.Context(), "z")
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shown != "x, z drains" {
		t.Errorf("got %q, want z as well", b.shown)
	}
}

// What is over is struck, by whoever finds it over; what another berth still has stays.
func TestEntriesAreStruckOnceTheirInstanceIsForgotten(t *testing.T) {
	store := newStore(t)
	a, b := newPeer(t, store, time.Second), newPeer(t, store, time.Hour)
	a.source <- answer{names: "x y"}
	b.source <- answer{names: "x"}
	a.await(t, "x, y")
	b.await(t, "x, y drains")
	a.source <- answer{names: "x"}
	a.await(t, "x")
	realtest.Eventually(t, "y is struck", func() bool { return a.listed() == entry("x") })
	b.source <- answer{names: "x y"} // it was right
	realtest.Eventually(t, "y is written anew", func() bool { return a.listed() == entry("x")+" "+entry("y") })
	a.await(t, "x, y drains")
}

func entry(name string) string {
	u := url.URL{Scheme: "http", Host: name}
	return `{"name":"` + name + `","url":"` + u.String() + `"}`
}

// writeDown has another berth tell of an entry.
func writeDown(t *testing.T, store *storage.Store, entry string) {
	t.Helper()
	if err := store.AddMember(t.Context(), "instances:p", entry, time.Hour, 0); err != nil {
		t.Fatal(err)
	}
}

// What is not to be understood is nobody.
func TestOddEntriesAreLeftOut(t *testing.T) {
	store := newStore(t)
	for _, odd := range []string{"", "null", "{}", `{"name":"a b","url":"http://a"}`, `{"name":"a","url":"file:///etc"}`, `{"name":"a"}`} {
		writeDown(t, store, odd)
	}
	b := newPeer(t, store, time.Hour)
	b.source <- answer{names: "x"}
	b.await(t, "x")
}
