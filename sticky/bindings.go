package sticky

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"berth/internal/storage"

	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/singleflight"
)

// ErrUnknown says that nothing is bound to the key: the store was asked and said so.
var ErrUnknown = errors.New("sticky: not bound")

// ErrOwned says that another upstream owns the id already.
var ErrOwned = errors.New("sticky: owned by another upstream")

// Source tells where a look-up found its binding; access records and metrics
// bear it.
type Source string

const (
	SourceBound Source = "bound" // in this process: the memory store, or a binding not yet written back
	SourceLRU   Source = "lru"   // the cache in front of a shared store
	SourceStore Source = "store" // the shared store
)

const (
	// keptAfter is by how much a task's binding outlives the task's own TTL, so that
	// the owner and not berth tells a late client that the task is gone.
	keptAfter = 5 * time.Minute

	touchEvery   = time.Minute // how often a session's expiry is extended at most
	extendBeyond = time.Minute // how much later an expiry must be to be worth a write
	hintLife     = 15 * time.Minute

	// ProvisionalLife is how long a provisional binding is kept.
	ProvisionalLife = 5 * time.Minute
	maxUpdates      = 1024 // refreshes that may wait for Run
)

// Options of New. The zero value of each field has a meaning.
type Options struct {
	Near        int                  // entries of the cache in front of the store; 0: none
	MaxTTL      time.Duration        // cap of a task binding's life, counted from its owner's last answer; 0: 168 h
	SessionIdle time.Duration        // a session binding unused for this long is forgotten; 0: 24 h
	Logger      *slog.Logger         // nil: discarded
	Meter       metric.MeterProvider // nil: nothing is measured
}

// Bindings are the bindings of all pools. Its methods may be called concurrently.
type Bindings struct {
	store   *storage.Store
	options Options
	log     *slog.Logger
	near    *near
	pending pending
	flight  singleflight.Group
	updates chan entry
	wake    chan struct{}
	metrics metrics
}

// New returns the bindings kept in store. Run must be running for write-backs and
// refreshes to happen.
func New(store *storage.Store, options Options) *Bindings {
	if options.MaxTTL == 0 {
		options.MaxTTL = 168 * time.Hour
	}
	if options.SessionIdle == 0 {
		options.SessionIdle = 24 * time.Hour
	}
	b := &Bindings{
		store:   store,
		options: options,
		log:     options.Logger,
		near:    newNear(options.Near),
		updates: make(chan entry, maxUpdates),
		wake:    make(chan struct{}, 1),
		metrics: newMetrics(options.Meter),
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	store.OnRecover(func() {
		select {
		case b.wake <- struct{}{}:
		default: // the one that waits there will do
		}
	})
	return b
}

// Lookup returns the binding of key and where it was found. The error is
// ErrUnknown, or wraps storage.ErrUnavailable or ctx's.
func (b *Bindings) Lookup(ctx context.Context, key Key) (Binding, Source, error) {
	binding, source, err := b.lookup(ctx, key)
	b.metrics.lookup(ctx, key.Kind, source, err)
	return binding, source, err
}

func (b *Bindings) lookup(ctx context.Context, key Key) (Binding, Source, error) {
	if binding, ok := b.pending.get(key); ok {
		return binding, SourceBound, nil
	}
	cached, ok := b.near.get(key)
	if ok && !cached.mayYield(key.Kind) {
		return cached, b.source(SourceLRU), nil
	}
	binding, err := b.load(ctx, key)
	if ok && errors.Is(err, storage.ErrUnavailable) {
		return cached, b.source(SourceLRU), nil
	}
	if err != nil {
		return Binding{}, "", err
	}
	return binding, b.source(SourceStore), nil
}

// source is where a binding was found, as look-ups tell it: what nobody else writes to is
// this process, whether the cache or the store had it.
func (b *Bindings) source(of Source) Source {
	if !b.store.Shared() {
		return SourceBound
	}
	return of
}

// load reads the store: memory at once, another one once for all who wait for the same key.
// Such a read does not end with the one caller who happened to begin it; the store bounds it.
func (b *Bindings) load(ctx context.Context, key Key) (Binding, error) {
	if !b.store.Durable() {
		binding, err := b.read(ctx, key)
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return binding, err
	}
	done := b.flight.DoChan(key.digest(), func() (any, error) {
		return b.read(context.WithoutCancel(ctx), key)
	})
	select {
	case r := <-done:
		return r.Val.(Binding), r.Err
	case <-ctx.Done():
		return Binding{}, context.Cause(ctx)
	}
}

func (b *Bindings) read(ctx context.Context, key Key) (Binding, error) {
	record, err := b.get(ctx, key)
	if err != nil {
		return Binding{}, err
	}
	binding, err := decode(record.Value)
	if err != nil {
		b.log.Warn("a stored binding cannot be read", "error", err)
		return Binding{}, ErrUnknown
	}
	b.near.add(entry{key, binding})
	return binding, nil
}

// Bind makes binding.Upstream the owner of key. It returns nil once the binding
// is in the store or, with the store away, once this process will answer for it.
// If another upstream owns the key it returns ErrOwned and changes nothing, unless that
// owner's binding is of an id that its client made and yields: then binding stands.
// binding.Expires is set by Bind, from ttl for tasks (0: unlimited) within bounds.
func (b *Bindings) Bind(ctx context.Context, key Key, binding Binding, ttl time.Duration) error {
	outcome, err := b.bind(ctx, b.entry(key, binding, ttl))
	b.metrics.bound(ctx, key.Kind, outcome)
	return err
}

func (b *Bindings) bind(ctx context.Context, e entry) (outcome string, err error) {
	if have, ok := b.pending.get(e.key); ok && !have.yieldsTo(e.binding) && have.Upstream != e.binding.Upstream {
		return outcomeCollision, ErrOwned
	}
	standing, written, err := b.establish(ctx, e)
	if err != nil {
		return b.bindLocally(e, err)
	}
	if !written && e.taken(standing) {
		return outcomeCollision, ErrOwned
	}
	b.pending.remove(e.key)
	b.near.add(e)
	return outcomeStored, nil
}

// establish writes e where nothing stands, or what yields to it. It returns the record
// that stands otherwise.
func (b *Bindings) establish(ctx context.Context, e entry) (standing storage.Record, written bool, err error) {
	name, value, life := e.key.digest(), e.binding.encode(), time.Until(e.binding.Expires)
	standing, written, err = b.store.PutIfAbsent(ctx, name, value, life)
	for range maxRevisions {
		if err != nil || written || !e.displaces(standing) {
			return standing, written, err
		}
		standing, err = b.store.Swap(ctx, name, standing.Version, value, life)
		switch {
		case err == nil:
			written = true
		case errors.Is(err, storage.ErrConflict):
			err = nil // the next round judges what stands by now
		case errors.Is(err, storage.ErrNotFound):
			standing, written, err = b.store.PutIfAbsent(ctx, name, value, life)
		}
	}
	return standing, written, err
}

// bindLocally keeps a binding that the store could not take, unless this process
// knows of another owner.
func (b *Bindings) bindLocally(e entry, cause error) (outcome string, err error) {
	if have, ok := b.near.get(e.key); ok && !have.yieldsTo(e.binding) && have.Upstream != e.binding.Upstream {
		return outcomeCollision, ErrOwned
	}
	if !b.pending.add(e) {
		return outcomeCollision, ErrOwned
	}
	b.near.add(e)
	b.log.Debug("bound locally, the store is away", "kind", string(e.key.Kind), "error", cause)
	return outcomeLocal, nil
}

// entry completes a binding that is made now. A claim says itself whose it is.
func (b *Bindings) entry(key Key, binding Binding, ttl time.Duration) entry {
	if key.Kind != Claim {
		binding.Principal = key.Principal
	}
	life := b.life(key.Kind, ttl)
	if binding.Provisional() {
		life = min(life, ProvisionalLife)
	}
	binding.Expires = time.Now().Add(life)
	return entry{key, binding}
}

// life is how long a binding is kept that is made or told of now. A claim lives as a
// task's binding does.
func (b *Bindings) life(kind Kind, ttl time.Duration) time.Duration {
	switch {
	case kind == Hint:
		return hintLife
	case kind == Session, kind == Affinity:
		return b.options.SessionIdle
	case ttl <= 0 || ttl > b.options.MaxTTL-keptAfter:
		return b.options.MaxTTL
	}
	return ttl + keptAfter
}

// Unbind forgets key: its owner said that it does not know it any more. Errors
// are not reported: a binding that stays is found out in the same way again.
func (b *Bindings) Unbind(ctx context.Context, key Key) {
	b.pending.remove(key)
	b.near.remove(key)
	if err := b.store.Delete(ctx, key.digest()); err != nil {
		b.log.Debug("a binding could not be dropped", "kind", string(key.Kind), "error", err)
	}
}

// Prefer remembers that upstream issued the cursor or requestState that key
// names. It is a preference: the last one counts, and a store that is away does
// not matter beyond this process.
func (b *Bindings) Prefer(ctx context.Context, key Key, upstream string) {
	b.put(ctx, b.entry(key, Binding{Upstream: upstream}, 0))
}

// Amend replaces what is kept of a binding that this process has just made. It
// must not change the owner.
func (b *Bindings) Amend(ctx context.Context, key Key, binding Binding) {
	b.put(ctx, b.entry(key, binding, 0))
}

// put writes e over what stands. What is pending is written with it later.
func (b *Bindings) put(ctx context.Context, e entry) {
	b.near.add(e)
	if b.pending.swap(e.key, nil, &e) {
		return
	}
	if err := b.store.Put(ctx, e.key.digest(), e.binding.encode(), time.Until(e.binding.Expires)); err != nil {
		b.log.Debug("a binding could not be written", "kind", string(e.key.Kind), "error", err)
	}
}
