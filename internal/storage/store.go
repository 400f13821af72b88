package storage

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/errgroup"
)

const (
	defaultPrefix  = "berth:"
	defaultTimeout = 250 * time.Millisecond
)

// Options are the settings of a store beside its URL. The zero value works.
type Options struct {
	// Logger hears of outages and recoveries. Nil discards them.
	Logger *slog.Logger

	// MeterProvider makes the instruments. Nil makes none.
	MeterProvider metric.MeterProvider

	// Prefix begins every key in a shared store. Empty means "berth:".
	Prefix string

	// Timeout bounds each wait for a server: for a free connection, for a new one,
	// for an answer. One operation ends within twice this. Zero means 250 ms.
	Timeout time.Duration

	// Wait is how long opening a file waits for the process that holds it. Zero: not
	// at all.
	Wait time.Duration

	// Durability is what has to have a write before it counts: "ack", the master, which
	// acknowledges it; "replicas:N", N of its replicas as well. Empty means "ack".
	// Redis only. A write that too few replicas have in time is ErrUnavailable: it
	// stands at the master, and is confirmed when its caller repeats it.
	Durability string

	// TLS adds roots or a client certificate for rediss://. Nil trusts the system's
	// roots. The server's name, and whether it is verified, come from the URL.
	TLS *tls.Config
}

func (o Options) withDefaults() Options {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Prefix == "" {
		o.Prefix = defaultPrefix
	}
	if o.Timeout <= 0 {
		o.Timeout = defaultTimeout
	}
	return o
}

// Store is an engine behind a breaker, with a health. It is itself an Engine, safe
// for concurrent use; Open makes one.
type Store struct {
	engine   Engine
	breakers *breakers // nil for memory: and file:, which answer at once
	health   *health
	metrics  *metrics
	name     string
	shared   bool
	durable  bool
	closed   atomic.Bool
	ended    chan struct{} // closed with the store

	mu    sync.Mutex // guards hooks
	hooks []func()
}

// Open is OpenContext without an end to its wait but Options.Wait.
func Open(url string, opts Options) (*Store, error) {
	return OpenContext(context.Background(), url, opts)
}

// OpenContext makes the store that url names: memory:, file:PATH,
// redis://[user:password@]host:port/db, unix://[user:password@]/path?db=n,
// redis+sentinel://[user:password@]host:port,…/MASTER/db or
// redis+cluster://[user:password@]host:port,…; with rediss in place of redis for TLS.
// It does not connect: a server that is away makes the store unhealthy, not Open fail. A
// file is opened and read through, once no other process holds it: ctx and Options.Wait
// bound the wait. Errors about the URL quote nothing of it; those about a file name its
// path.
func OpenContext(ctx context.Context, url string, opts Options) (*Store, error) {
	t, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	durability, err := t.durability(opts.Durability)
	if err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	s := &Store{name: t.name, shared: t.redis != nil, durable: t.redis != nil || t.file != "", ended: make(chan struct{})}
	s.health = newHealth(opts.Logger.With("store", t.name), !s.shared)
	if s.metrics, err = newMetrics(opts.MeterProvider, s.Healthy); err != nil {
		return nil, err
	}
	switch {
	case t.redis != nil:
		engine, connections := newRedisEngine(t, opts, durability)
		s.engine = engine
		s.breakers = newBreakers(s.health, traffic{connections: connections, timeout: opts.Timeout})
	case t.file != "":
		s.engine, err = newFileEngine(ctx, t, opts, s.health)
	default:
		s.engine = newMemoryEngine()
	}
	if err != nil {
		return nil, errors.Join(err, s.metrics.close())
	}
	return s, nil
}

// Healthy reports whether the store served when it was last asked.
func (s *Store) Healthy() bool { return s.health.snapshot().Healthy }

// Health tells the same, since when, and why not.
func (s *Store) Health() Health { return s.health.snapshot() }

// Shared reports whether other processes see the same records. False for memory: and
// file:, where a cache in front gains nothing.
func (s *Store) Shared() bool { return s.shared }

// Durable reports whether records outlive the process. False for memory:.
func (s *Store) Durable() bool { return s.durable }

// String is the URL with the password masked.
func (s *Store) String() string { return s.name }

// Get implements Engine.
func (s *Store) Get(ctx context.Context, key string) (record Record, err error) {
	err = s.do(ctx, opGet, s.part(key), func(ctx context.Context) (err error) {
		record, err = s.engine.Get(ctx, key)
		return err
	})
	return record, err
}

// PutIfAbsent implements Engine.
func (s *Store) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (standing Record, created bool, err error) {
	err = s.do(ctx, opPutIfAbsent, s.part(key), func(ctx context.Context) (err error) {
		standing, created, err = s.engine.PutIfAbsent(ctx, key, value, ttl)
		return err
	})
	return standing, created, err
}

// Swap implements Engine.
func (s *Store) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (record Record, err error) {
	err = s.do(ctx, opSwap, s.part(key), func(ctx context.Context) (err error) {
		record, err = s.engine.Swap(ctx, key, version, value, ttl)
		return err
	})
	return record, err
}

// Put implements Engine.
func (s *Store) Put(ctx context.Context, key string, value []byte, ttl time.Duration) error {
	return s.do(ctx, opPut, s.part(key), func(ctx context.Context) error { return s.engine.Put(ctx, key, value, ttl) })
}

// Delete implements Engine.
func (s *Store) Delete(ctx context.Context, key string) error {
	return s.do(ctx, opDelete, s.part(key), func(ctx context.Context) error { return s.engine.Delete(ctx, key) })
}

// Ping implements Engine. Of a store on several servers it asks each.
func (s *Store) Ping(ctx context.Context) error {
	several, ok := s.engine.(parted)
	if !ok {
		return s.do(ctx, opPing, "", func(ctx context.Context) error { return s.engine.Ping(ctx) })
	}
	pings, err := several.parts(ctx)
	if err != nil {
		return s.do(ctx, opPing, "", func(context.Context) error { return err })
	}
	s.breakers.keep(pings)
	var group errgroup.Group
	for part, ping := range pings {
		group.Go(func() error {
			return s.do(ctx, opPing, part, ping)
		})
	}
	return group.Wait()
}

// part names the server that is to be asked for key; empty if there is but one.
func (s *Store) part(key string) string {
	if several, ok := s.engine.(parted); ok {
		return several.part(key)
	}
	return ""
}

// Close implements Engine. It may be called more than once, and does not wait for
// Run, which ends with its context, nor for those who watch.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	close(s.ended)
	return errors.Join(s.metrics.close(), s.engine.Close())
}

// do runs one operation the way all of them run: not for a caller who has left,
// through the breaker of the part that it asks, measured.
func (s *Store) do(ctx context.Context, op, part string, f func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("storage: %s: %w", op, err)
	}
	if s.closed.Load() {
		return closedFault(op)
	}
	start := time.Now()
	var err error
	if s.breakers == nil {
		err = f(ctx)
	} else {
		err = s.breakers.of(part).do(ctx, op, func(ctx context.Context) error {
			start = time.Now() // the wait for its turn is none of the server's
			return f(ctx)
		})
	}
	s.metrics.record(ctx, op, time.Since(start), err)
	return err
}

func closedFault(op string) error {
	return &fault{op: op, reason: reasonOther, detail: "store is closed"}
}
