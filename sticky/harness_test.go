package sticky

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"

	"github.com/redis/go-redis/v9"
	"go.opentelemetry.io/otel/attribute"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// berth is one berth's bindings, with what it says about itself.
type berth struct {
	*Bindings
	log    *realtest.Journal
	reader *sdkmetric.ManualReader
}

// newBerth opens the bindings in the store that url names. Nothing runs yet.
func newBerth(t *testing.T, url string, options Options, timeout time.Duration) *berth {
	t.Helper()
	store, err := storage.Open(url, storage.Options{Timeout: timeout})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() {
		if err := store.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return over(store, options)
}

// over returns bindings in a store that others may use too.
func over(store *storage.Store, options Options) *berth {
	b := &berth{log: new(realtest.Journal), reader: sdkmetric.NewManualReader()}
	options.Logger = slog.New(slog.NewTextHandler(b.log, nil))
	options.Meter = sdkmetric.NewMeterProvider(sdkmetric.WithReader(b.reader))
	b.Bindings = New(store, options)
	return b
}

// onRedis is a running berth on server, with a near cache.
func onRedis(t *testing.T, server *redistest.Server) *berth {
	t.Helper()
	b := newBerth(t, server.URL(), Options{Near: 1000}, 0)
	b.run(t)
	realtest.Eventually(t, "the store is healthy", b.store.Healthy)
	return b
}

// run runs the berth and its store until the end of the test, and waits for both.
func (b *berth) run(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, run := range []func(context.Context) error{b.store.Run, b.Run} {
		running.Go(func() {
			if err := run(ctx); err != nil {
				t.Errorf("Run: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
}

// mustBind binds key to upstream.
func (b *berth) mustBind(t *testing.T, key Key, upstream string, ttl time.Duration) {
	t.Helper()
	if err := b.Bind(t.Context(), key, Binding{Upstream: upstream}, ttl); err != nil {
		t.Fatalf("Bind %s to %s: %v", key.ID, upstream, err)
	}
}

// owns fails the test unless key is bound to upstream; it returns the binding.
func (b *berth) owns(t *testing.T, upstream string, key Key, source Source) Binding {
	t.Helper()
	binding, found, err := b.Lookup(t.Context(), key)
	if err != nil || binding.Upstream != upstream || found != source {
		t.Errorf("Lookup %s: got %q, %q, %v, want %q, %q", key.ID, binding.Upstream, found, err, upstream, source)
	}
	return binding
}

// finds reports whether key is bound to upstream.
func (b *berth) finds(t *testing.T, upstream string, key Key) bool {
	t.Helper()
	binding, _, err := b.Lookup(t.Context(), key)
	return err == nil && binding.Upstream == upstream
}

func (b *berth) unknown(t *testing.T, key Key) {
	t.Helper()
	if binding, source, err := b.Lookup(t.Context(), key); !errors.Is(err, ErrUnknown) {
		t.Errorf("Lookup %s: got %q, %q, %v, want ErrUnknown", key.ID, binding.Upstream, source, err)
	}
}

// bound is how many bindings were counted with that outcome.
func (b *berth) bound(t *testing.T, outcome string) int64 {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := b.reader.Collect(t.Context(), &all); err != nil {
		t.Fatalf("Collect: %v", err)
	}
	var n int64
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			sum, ok := m.Data.(metricdata.Sum[int64])
			if !ok || m.Name != "berth.bindings" {
				continue
			}
			for _, point := range sum.DataPoints {
				if value, _ := point.Attributes.Value(attribute.Key("outcome")); value.AsString() == outcome {
					n += point.Value
				}
			}
		}
	}
	return n
}

// task is the key of a task of nobody in particular.
func task(id string) Key { return Key{Kind: Task, Pool: "p", ID: id} }

func session(id string) Key { return Key{Kind: Session, Pool: "p", ID: id} }

// client talks to server without a store between.
func client(t *testing.T, server *redistest.Server) *redis.Client {
	t.Helper()
	c := redis.NewClient(&redis.Options{Addr: server.Addr, Protocol: 2, DisableIdentity: true})
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return c
}
