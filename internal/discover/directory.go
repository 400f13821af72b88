package discover

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"slices"
	"sync"
	"time"

	"berth/internal/storage"
)

const (
	directoryPrefix = "instances:" // of the lists' names, before the pool's
	directoryBeat   = 10 * time.Second
	directoryMost   = 10_000                // instances of a pool
	directoryWait   = time.Second           // for the store, where something waits for it
	seekGap         = 50 * time.Millisecond // between two readings, however many bindings name whom nobody knows
	directoryLife   = 24 * time.Hour        // of an entry that nobody renews
)

// Directory is where berths that share a store tell each other of instances, so that none meets a
// binding whose upstream it has never heard of: because its own source tells of it later, or
// because the instance had left before the berth began. An entry is written before its instance is
// given work, and struck once the instance is forgotten. Nil is no directory.
type Directory struct {
	store *storage.Store
	pool  string
	log   *slog.Logger

	mu     sync.Mutex // guards the fields below
	struck []string   // entries that are to be removed
	sought time.Time  // when it was read last
	wake   chan struct{}
}

// NewDirectory returns the directory of a pool; nil if the store tells neither another berth nor
// the next one.
func NewDirectory(store *storage.Store, pool string, log *slog.Logger) *Directory {
	if !store.Shared() && !store.Durable() {
		return nil
	}
	return &Directory{store: store, pool: pool, log: cmp.Or(log, slog.New(slog.DiscardHandler)), wake: make(chan struct{}, 1)}
}

func (d *Directory) list() string { return directoryPrefix + d.pool }

// written is an instance as the store has it.
type written struct {
	Name   string `json:"name"`
	URL    string `json:"url"`
	Era    string `json:"era,omitempty"`
	Weight int    `json:"weight,omitempty"`
}

func entryOf(i Instance) string {
	text, _ := json.Marshal(written{Name: i.Name, URL: i.URL.String(), Era: i.Era, Weight: i.Weight}) // strings and numbers
	return string(text)
}

func instanceOf(text string) (Instance, bool) {
	var w written
	if json.Unmarshal([]byte(text), &w) != nil || checkName(w.Name) != nil {
		return Instance{}, false
	}
	u, err := url.Parse(w.URL)
	if err != nil || checkURL(u) != nil {
		return Instance{}, false
	}
	return Instance{Name: w.Name, URL: u, Era: w.Era, Weight: w.Weight}, true
}

// run keeps the directory and m alike until ctx ends.
func (d *Directory) run(ctx context.Context, m *Members) {
	if d == nil {
		return
	}
	var watching sync.WaitGroup
	defer watching.Wait()
	watching.Go(func() { _ = d.store.Watch(ctx, d.list(), func(string) { d.awake() }) })
	tick := time.NewTicker(directoryBeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		case <-d.wake:
		}
		d.compare(ctx, m)
	}
}

func (d *Directory) awake() {
	select {
	case d.wake <- struct{}{}:
	default: // it will
	}
}

// compare removes what was struck, takes up what m has not heard of, and writes what is missing.
func (d *Directory) compare(ctx context.Context, m *Members) {
	d.mu.Lock()
	struck := d.struck
	d.struck = nil
	d.mu.Unlock()
	for _, entry := range struck {
		if d.store.RemoveMember(ctx, d.list(), entry) != nil {
			break // it expires, or is struck again
		}
	}
	entries, err := d.read(ctx)
	if err != nil {
		return // the store says so itself
	}
	m.heard(entries)
	d.write(ctx, missing(m.present(), entries))
}

func (d *Directory) read(ctx context.Context) ([]string, error) {
	d.mu.Lock()
	d.sought = time.Now()
	d.mu.Unlock()
	return d.store.Members(ctx, d.list())
}

// missing are the entries of instances that do not stand.
func missing(present []Instance, entries []string) (lacks []string) {
	for _, i := range present {
		if entry := entryOf(i); !slices.Contains(entries, entry) {
			lacks = append(lacks, entry)
		}
	}
	return lacks
}

func (d *Directory) write(ctx context.Context, entries []string) {
	if len(entries) == 0 {
		return
	}
	for _, entry := range entries {
		if err := d.store.AddMember(ctx, d.list(), entry, directoryLife, directoryMost); err != nil {
			d.log.Debug("instances could not be written down for other berths", "pool", d.pool, "error", err)
			return
		}
	}
	_ = d.store.Notify(ctx, d.list(), "") // a hint: others look by themselves
}

// announce writes down what m has not heard of yet, before it gets any work.
func (d *Directory) announce(ctx context.Context, m *Members, list []Instance) {
	if d == nil {
		return
	}
	if news := m.unheard(list); len(news) > 0 {
		ctx, cancel := context.WithTimeout(ctx, directoryWait)
		defer cancel()
		d.write(ctx, news)
	}
}

// strike has the entries of instances removed that are over.
func (d *Directory) strike(over []Instance) {
	if d == nil || len(over) == 0 {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, i := range over {
		d.struck = append(d.struck, entryOf(i))
	}
	d.awake()
}

// Seek looks for instances that other berths have written down since, because a binding names one
// that is not known here.
func (m *Members) Seek(ctx context.Context) {
	d := m.o.Directory
	if source, _ := m.followed(); d == nil || source == nil {
		return
	}
	d.mu.Lock()
	recent := time.Since(d.sought) < seekGap
	d.mu.Unlock()
	if recent {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, directoryWait)
	defer cancel()
	if entries, err := d.read(ctx); err == nil {
		m.heard(entries)
	}
}

// heard takes up what other berths have written down.
func (m *Members) heard(entries []string) {
	var list []Instance
	for _, entry := range slices.Backward(entries) { // of two with one name the later one counts
		if i, ok := instanceOf(entry); ok {
			list = append(list, i)
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if news := m.roster.hear(list, time.Now()); len(news) > 0 {
		m.o.Logger.Info("instances that other berths know of", "pool", m.o.Pool, "upstreams", news)
		m.settle(Changes{})
	}
}

// present are those that the source tells of.
func (m *Members) present() (list []Instance) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.roster.known {
		if e.left.IsZero() {
			list = append(list, e.Instance)
		}
	}
	return list
}

// unheard are the entries of those in list that are news, back, or elsewhere than before.
func (m *Members) unheard(list []Instance) (news []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range list {
		if e := m.roster.known[i.Name]; e == nil || !e.left.IsZero() || e.URL.String() != i.URL.String() {
			news = append(news, entryOf(i))
		}
	}
	return news
}
