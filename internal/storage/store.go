package storage

import (
	"context"
	"crypto/tls"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"berth/internal/storage/breaker"
	"berth/internal/storage/engine"
	"berth/internal/storage/file"
	"berth/internal/storage/health"
	"berth/internal/storage/memory"
	"berth/internal/storage/redis"

	"go.opentelemetry.io/otel/metric"
	"golang.org/x/sync/errgroup"
)

const (
	defaultPrefix  = "berth:"
	defaultTimeout = 250 * time.Millisecond
)

// Options are the settings of a store beside its URL. The zero value works.
type Options struct {
	Logger        *slog.Logger         // hears of outages and recoveries. Nil discards them.
	MeterProvider metric.MeterProvider // makes the instruments. Nil makes none.
	Lost          func(why string)     // is told of each outage as it begins. Nil: nobody is.
	Prefix        string               // begins every key in a shared store. Empty means "berth:".

	// Timeout bounds each wait for a server; one operation ends within twice this. Zero means 250
	// ms.
	Timeout time.Duration
	Wait    time.Duration // how long opening a file waits for the process that holds it. Zero: not at all.

	// Durability is what has to have a write before it counts: "ack", the master; "replicas:N", N
	// of its replicas as well (Redis only). Empty means "ack". A write that too few have in time is
	// ErrUnavailable, and confirmed when its caller repeats it.
	Durability string

	// TLS is what each connection to a host is secured by, with rediss://, for its caller to change.
	// Whether the server is verified at all says the URL. Nil: the system's roots.
	TLS func(host string) *tls.Config
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

func (o Options) ofServers(replicas int) redis.Options {
	return redis.Options{Prefix: o.Prefix, Timeout: o.Timeout, Replicas: replicas, TLS: o.TLS}
}

func (o Options) ofFile() file.Options { return file.Options{Wait: o.Wait, Log: o.Logger} }

// Store is an Engine behind a breaker, with a health, safe for concurrent use; Open makes one.
type Store struct {
	engine   Engine
	breakers *breaker.Breakers // nil for memory: and file:, which answer at once
	health   *health.Monitor
	metrics  *metrics
	name     string
	shared   bool
	durable  bool
	closed   atomic.Bool
	ended    chan struct{} // closed with the store
	whole    whole

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
// redis+cluster://[user:password@]host:port,…; with rediss for TLS. It does not connect: a server
// that is away makes the store unhealthy. A file is read through, once no other process holds it:
// ctx and Options.Wait bound the wait. Errors about the URL quote nothing of it.
func OpenContext(ctx context.Context, url string, opts Options) (*Store, error) {
	t, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	replicas, err := t.replicas(opts.Durability)
	if err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	s := &Store{name: t.name, shared: t.redis != nil, durable: t.redis != nil || t.file != "", ended: make(chan struct{}), whole: whole{turn: make(chan struct{}, 1)}}
	s.health = health.New(opts.Logger.With("store", t.name), !s.shared)
	s.health.Lost = opts.Lost
	s.metrics = newMetrics(opts.MeterProvider, s.Healthy)
	switch {
	case t.redis != nil:
		on, alone, together := redis.New(t.redis, opts.ofServers(replicas))
		s.engine = on
		s.breakers = breaker.New(s.health, breaker.Traffic{Alone: alone, Together: together, Timeout: opts.Timeout})
	case t.file != "":
		s.engine, err = file.Open(ctx, t.file, opts.ofFile(), s.health)
	default:
		s.engine = memory.New()
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Healthy reports whether the store served when it was last asked.
func (s *Store) Healthy() bool { return s.health.Snapshot().Healthy }

// Health tells the same, since when, and why not.
func (s *Store) Health() Health { return s.health.Snapshot() }

// Shared reports whether other processes see the same records.
func (s *Store) Shared() bool { return s.shared }

// Durable reports whether records outlive the process. False for memory:.
func (s *Store) Durable() bool { return s.durable }

// String is the URL with the password masked.
func (s *Store) String() string { return s.name }

// Ping implements Engine. Of a store on several servers it asks each.
func (s *Store) Ping(ctx context.Context) error {
	several, ok := s.engine.(engine.Parted)
	if !ok {
		return s.do(ctx, engine.OpPing, "", func(ctx context.Context) error { return s.engine.Ping(ctx) })
	}
	pings, err := several.Parts(ctx)
	if err != nil {
		return s.do(ctx, engine.OpPing, "", func(context.Context) error { return err })
	}
	s.breakers.Keep(pings)
	s.health.Keep(func(part string) bool { return pings[part] != nil })
	var group errgroup.Group
	for part, ping := range pings {
		group.Go(func() error {
			return s.do(ctx, engine.OpPing, part, ping)
		})
	}
	return group.Wait()
}

// Close may be called more than once, and does not wait for Run, nor for those who watch.
func (s *Store) Close() error {
	if s.closed.Swap(true) {
		return nil
	}
	close(s.ended)
	return s.engine.Close()
}
