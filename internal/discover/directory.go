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
	seekGap         = 50 * time.Millisecond // between two readings for bindings, however many name whom nobody knows
	directoryLife   = 24 * time.Hour        // of an entry that nobody renews
	directoryRenews = time.Hour             // how often a berth renews what it has
)

// Directory is where berths that share a store tell each other of instances, so that none meets a
// binding whose upstream it has never heard of: because its own source tells of it later, or
// because the instance had left before the berth began. An entry is written before an instance that a
// source tells of is given work, renewed as long as a berth has it, and struck once the instance is
// forgotten. Nil is no directory.
type Directory struct {
	store *storage.Store
	pool  string
	log   *slog.Logger
	wake  chan struct{}
	turn  chan struct{} // holds one: somebody seeks, and has what follows
	found finding

	mu      sync.Mutex // guards the fields below
	struck  []string   // entries that are to be removed
	renewed time.Time  // zero: all are to be renewed
}

// finding is what was read when somebody sought last.
type finding struct {
	entries []string
	began   time.Time
}

// NewDirectory returns the directory of a pool; nil if the store tells neither another berth nor
// the next one.
func NewDirectory(store *storage.Store, pool string, log *slog.Logger) *Directory {
	if !store.Shared() && !store.Durable() {
		return nil
	}
	return &Directory{store: store, pool: pool, log: cmp.Or(log, slog.New(slog.DiscardHandler)), wake: make(chan struct{}, 1), turn: make(chan struct{}, 1)}
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
	struck, due := d.struck, time.Since(d.renewed) >= directoryRenews
	d.struck = nil
	d.mu.Unlock()
	for _, entry := range struck {
		if d.store.RemoveMember(ctx, d.list(), entry) != nil {
			break // it expires, or is struck again
		}
	}
	entries, err := d.store.Members(ctx, d.list())
	if err != nil {
		return // the store says so itself
	}
	m.heard(m.concerning(ctx, entries))
	if d.write(ctx, missing(m.standing(), entries)); due {
		d.renew(ctx, m.lives())
	}
}

// renew has entries live on.
func (d *Directory) renew(ctx context.Context, lives []storage.Member) {
	renewed := time.Now()
	if len(lives) > 0 && d.store.KeepMembers(ctx, d.list(), lives...) != nil {
		return // at the next beat
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.renewed = renewed
}

// hurry has the directory compared soon; with all, entries are renewed as well.
func (d *Directory) hurry(all bool) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if all {
		d.renewed = time.Time{}
	}
	d.awake()
}

// sought is what stands, read after the call began: whoever made a binding wrote its instance down before.
func (d *Directory) sought(ctx context.Context) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, directoryWait)
	defer cancel()
	asked := time.Now()
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-d.turn }()
	if d.found.began.After(asked) {
		return d.found.entries, nil
	}
	select {
	case <-time.After(seekGap - time.Since(d.found.began)):
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	began := time.Now()
	entries, err := d.store.Members(ctx, d.list())
	if err == nil {
		d.found = finding{entries, began}
	}
	return entries, err
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
