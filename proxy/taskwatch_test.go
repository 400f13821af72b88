package proxy_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"

	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
)

// What listeners cost the store has a bound that does not depend on how many there are,
// and tasks that have ended cost nothing.
func TestLooksForListenersAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const tasks, listeners = 250, 4
		reader := sdkmetric.NewManualReader()
		store, err := storage.Open("memory:", storage.Options{MeterProvider: sdkmetric.NewMeterProvider(sdkmetric.WithReader(reader))})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		rule := greetRule()
		rule.PollInterval = time.Second
		holder := newGreeter(t, rigOptions{store: store}, rule) // which looks at nothing that it holds
		o, run := withGreetings(t, rigOptions{store: store}, rule)
		f := holder.second(o)
		run(f)
		var ids []string
		for range tasks {
			ids = append(ids, holder.greeting("1h"))
		}
		var all []*subscriber
		for range listeners {
			all = append(all, f.subscribe("1", tasksFilter("", ids...)))
		}
		time.Sleep(10 * time.Second)
		perMinute := func() uint64 {
			before := readsOf(t, reader)
			time.Sleep(time.Minute)
			synctest.Wait()
			return readsOf(t, reader) - before
		}
		if n := perMinute(); n < 27_000 || n > 33_000 {
			t.Errorf("%d looks a minute, want about 30,000", n)
		}
		for _, id := range ids {
			f.modern("tasks/cancel", id, byID(id))
		}
		time.Sleep(10 * time.Second) // the holder has heard of it
		if n := perMinute(); n > 100 {
			t.Errorf("%d looks a minute at what has ended", n)
		}
		for _, s := range all {
			if n := len(s.told()); n != tasks {
				t.Errorf("told of %d tasks, want %d", n, tasks)
			}
		}
	})
}

// readsOf counts the records that a store was asked for.
func readsOf(t *testing.T, reader sdkmetric.Reader) (n uint64) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, scope := range all.ScopeMetrics {
		for _, m := range scope.Metrics {
			histogram, ok := m.Data.(metricdata.Histogram[float64])
			if !ok || m.Name != "berth.store.operation.duration" {
				continue
			}
			for _, point := range histogram.DataPoints {
				if operation, _ := point.Attributes.Value("operation"); operation.AsString() == "get" {
					n += point.Count
				}
			}
		}
	}
	return n
}

// newGreeters is two berths on one Redis, the second of which reaches it by another line.
func newGreeters(t *testing.T, poll time.Duration) (one, two *rig, line *storeLine) {
	t.Helper()
	redis := redistest.Start(t)
	line = newStoreLine(t, redis.Addr)
	rule := greetRule()
	rule.PollInterval = poll
	near, far := openStore(t, redis.URL()), openStore(t, "redis://"+line.addr+"/0")
	one = newGreeter(t, rigOptions{tcp: true, store: near}, rule)
	o, run := withGreetings(t, rigOptions{tcp: true, size: 3, store: far}, rule)
	two = one.second(o)
	run(two)
	one.eventually("the store is known to be there", func() bool { return near.Healthy() && far.Healthy() })
	return one, two, line
}

// Whoever holds a task and whoever is asked, every berth tells its listeners, and does so
// long before the next poll would be due.
func TestUpgradedTasksAreToldOfFromAnyBerth(t *testing.T) {
	one, two, _ := newGreeters(t, time.Hour)
	id, long := one.greeting("ask"), one.greeting("1h")
	filter := tasksFilter("", id, long)
	all := []*subscriber{one.subscribe("1", filter), two.subscribe("2", filter)}
	for _, s := range all {
		one.eventually("that it asks is told", func() bool { return slices.Contains(s.statuses(), id+" input_required") })
		if got := s.agreed(); got != filter {
			t.Errorf("agreed to %s, want %s", got, filter)
		}
	}
	two.answer(id)
	two.modern("tasks/cancel", long, byID(long))
	for _, s := range all {
		one.eventually("the ends are told", func() bool {
			got := s.statuses()
			return slices.Contains(got, id+" completed") && slices.Contains(got, long+" cancelled")
		})
	}
}

// While the store is away nobody can say whose a task is, and a subscription that stands
// is told nothing and goes on. What happened meanwhile is told afterwards.
func TestOutageOfTheStoreEndsNoSubscription(t *testing.T) {
	one, two, line := newGreeters(t, time.Second)
	id := one.greeting("1h")
	s := two.subscribe("1", tasksFilter("", id))
	one.eventually("it is acknowledged", func() bool { return s.agreed() != "" })
	asked := line.hold()
	<-asked
	for range 5 {
		r := two.tryToListen(tasksFilter("", id))
		r.fails(t, 503, -31503, "store_unavailable", true)
	}
	one.modern("tasks/cancel", id, byID(id))
	if got := s.told(); len(got) != 0 || s.fault() != nil {
		t.Errorf("told %v, %v", got, s.fault())
	}
	line.release()
	one.eventually("the end is told", func() bool { return len(s.told()) > 0 })
	if got, want := s.told(), []string{id + " cancelled"}; !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}
