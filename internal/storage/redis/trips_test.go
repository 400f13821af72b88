package redis

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/storage/breaker"
	"berth/internal/storage/engine"
	"berth/internal/storage/health"
	"berth/internal/storage/redistest"

	"github.com/redis/go-redis/v9"
)

// tripsTo are trips to a server, on connections that the server counts.
func tripsTo(t *testing.T, addr string, bound time.Duration) *trips {
	t.Helper()
	client := redis.NewClient(&redis.Options{Addr: addr, Protocol: 2, DisableIdentity: true, MaxRetries: -1, ReadTimeout: bound, ContextTimeoutEnabled: true})
	t.Cleanup(func() { client.Close() })
	return newTrips(client, lanesOf(10), bound)
}

// engineOn is an engine on a server, with so many connections; 0: as many as by default.
func engineOn(t *testing.T, addr string, connections int, timeout time.Duration) *single {
	t.Helper()
	on := &Servers{options: &redis.UniversalOptions{Addrs: []string{addr}, PoolSize: connections}}
	e, _, _ := New(on, Options{Prefix: "berth:", Timeout: timeout})
	t.Cleanup(func() { e.Close() })
	return e.(*single)
}

// get has the trips carry a command, and says what was answered.
func (t *trips) get(key string) (tells bool, text string, err error) {
	p := &passenger{arrived: make(chan bool, 1)}
	p.request = p.request.begin(2).text("get").text(key)
	if tells, err = t.carry(p); err != nil {
		return tells, "", err
	}
	if p.answer.parts[0].kind == none {
		return tells, "nothing", nil
	}
	return tells, string(p.answer.of(0)), nil
}

// Each command of a trip has its own answer: a value, that there is none, or that it is refused.
func TestEachCommandOfATripHasItsOwnAnswer(t *testing.T) {
	server := redistest.Start(t)
	s := tripsTo(t, server.Addr, time.Minute)
	for i := range 10 {
		server.Do("SET", fmt.Sprint("k", i), fmt.Sprint(i))
	}
	server.Do("RPUSH", "list", "x")
	var asking sync.WaitGroup
	for i := range 1000 {
		asking.Go(func() {
			switch i % 3 {
			case 0:
				if _, got, err := s.get(fmt.Sprint("k", i%10)); err != nil || got != fmt.Sprint(i%10) {
					t.Errorf("k%d: got %q, %v", i%10, got, err)
				}
			case 1:
				if _, got, err := s.get("none"); err != nil || got != "nothing" {
					t.Errorf("what is not there: got %q, %v, want nothing", got, err)
				}
			case 2:
				if _, _, err := s.get("list"); !redis.HasErrorPrefix(err, "WRONGTYPE") {
					t.Errorf("a list: got %v, want WRONGTYPE", err)
				}
			}
		})
	}
	asking.Wait()
	s.areIdle(t)
}

// areIdle fails the test unless every lane is free, with nobody aboard.
func (t *trips) areIdle(test *testing.T) {
	test.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.lanes {
		if l := &t.lanes[i]; l.state != idle || len(l.aboard) > 0 {
			test.Errorf("lane %d is left in state %d with %d aboard", i, l.state, len(l.aboard))
		}
	}
}

// A leader lets others run only where they ask as well: to a caller alone it is a thread that is woken in vain.
func TestALoneCallerGoesAtOnce(t *testing.T) {
	s := tripsTo(t, redistest.Start(t).Addr, time.Minute)
	yields := func() bool {
		on, leads := s.board(&passenger{})
		if !leads || on.state != boarding {
			t.Fatalf("leads: %v, lane in state %d", leads, on.state)
		}
		on.state, on.aboard = idle, nil
		return on.yields
	}
	if _, _, err := s.get("k"); err != nil || yields() {
		t.Errorf("alone: %v", err)
	}
	s.lanes[1].state = underWay
	if !yields() {
		t.Error("with a trip under way: it goes at once")
	}
	s.lanes[1].state = idle
	s.several = true
	if !yields() {
		t.Error("after a trip of several: it goes at once")
	}
	if _, _, err := s.get("k"); err != nil || yields() {
		t.Errorf("alone again: %v", err)
	}
}

// Those who ask while all lanes are under way go together, and of those that a trip loses one tells.
func TestWhoWaitsGoesTogether(t *testing.T) {
	server := redistest.Start(t)
	var relay redistest.Relay
	relay.Start(t, server.Addr)
	s := tripsTo(t, relay.Addr(), time.Minute)
	server.Do("SET", "k", "v")
	server.Stop()
	var asking sync.WaitGroup
	var telling, lost atomic.Int64
	ask := func() {
		asking.Go(func() {
			switch tells, _, err := s.get("k"); {
			case err != nil && tells:
				telling.Add(1)
			case err != nil:
				lost.Add(1)
			}
		})
	}
	for range 500 {
		ask()
	}
	until(t, "all are aboard", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		aboard := 0
		for i := range s.lanes {
			if s.lanes[i].state == boarding {
				return false
			}
			aboard += len(s.lanes[i].aboard)
		}
		return relay.Accepted() == int64(len(s.lanes)) || aboard == 0 || aboard > 400
	})
	relay.Cut()
	server.Cont()
	asking.Wait()
	if telling.Load() > int64(len(s.lanes)) || telling.Load() == 0 && lost.Load() > 0 {
		t.Errorf("%d tell of %d that were lost, on %d connections", telling.Load(), lost.Load(), len(s.lanes))
	}
	s.areIdle(t)
}

func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for range 2000 {
		if is() {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("not in time: %s", what)
}

// A connection that is cut costs what was aboard, and is one failure to the breaker.
func TestACutConnectionIsOneFailure(t *testing.T) {
	server := redistest.Start(t)
	var relay redistest.Relay
	relay.Start(t, server.Addr)
	r := engineOn(t, relay.Addr(), 4, time.Minute) // one lane
	b := breaker.New(health.New(slog.New(slog.DiscardHandler), true), breaker.Traffic{Alone: 1, Together: mostAboard, Timeout: time.Minute}).Of("")
	get := func() (record engine.Record, err error) {
		_, err = b.InTurn(t.Context(), b.Aboard, engine.OpGet, func(ctx context.Context) (err error) {
			record, err = r.Get(ctx, "k")
			return err
		})
		return record, err
	}
	if err := r.Put(t.Context(), "k", []byte("v"), 0); err != nil {
		t.Fatal(err)
	}
	server.Stop()
	var asking sync.WaitGroup
	for range mostAboard {
		asking.Go(func() {
			if _, err := get(); err != nil && !errors.Is(err, engine.ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		})
	}
	until(t, "all are aboard or under way", func() bool {
		r.trips.mu.Lock()
		defer r.trips.mu.Unlock()
		return r.trips.lanes[0].state == underWay
	})
	relay.Cut()
	server.Cont()
	asking.Wait()
	if !b.Closed() {
		t.Error("the breaker opened")
	}
	if record, err := get(); err != nil || string(record.Value) != "v" {
		t.Errorf("afterwards: got %q, %v", record.Value, err)
	}
}

// A panic of the driver's strands nobody.
func TestAPanicEndsATrip(t *testing.T) {
	server := redistest.Start(t)
	s := tripsTo(t, server.Addr, time.Minute)
	s.client.AddHook(panics{})
	func() {
		defer func() { _ = recover() }()
		_, _, _ = s.get("k")
		t.Error("there was no panic")
	}()
	s.areIdle(t)
}

type panics struct{}

func (panics) DialHook(next redis.DialHook) redis.DialHook { return next }
func (panics) ProcessHook(redis.ProcessHook) redis.ProcessHook {
	return func(context.Context, redis.Cmder) error { panic("in the driver") }
}
func (panics) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

// What takes its time, waits for replicas, or is long does not go by a trip.
func TestWhatGoesByItself(t *testing.T) {
	short, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	r := &single{trips: &trips{least: 1500 * time.Millisecond}, bound: 3 * time.Second}
	durable := &single{trips: r.trips, bound: r.bound, replicas: 1}
	for name, tc := range map[string]struct {
		r    *single
		ctx  context.Context
		op   string
		want bool
	}{
		"a read":                    {r, t.Context(), engine.OpGet, true},
		"a creation":                {r, t.Context(), engine.OpEach, true},
		"a creation in a hurry":     {r, engine.Within(t.Context(), time.Second), engine.OpEach, false},
		"one with time to be asked": {r, engine.Within(t.Context(), 2*time.Second), engine.OpEach, true},
		"one that had to step off":  {r, engine.Alone(engine.Within(t.Context(), 2*time.Second)), engine.OpEach, false},
		"a list":                    {r, t.Context(), engine.OpListing, false},
		"a read in a hurry":         {r, short, engine.OpGet, false},
		"a read of what is durable": {durable, t.Context(), engine.OpGet, true},
		"a durable creation":        {durable, t.Context(), engine.OpEach, false},
		"of a cluster":              {&single{}, t.Context(), engine.OpGet, false},
	} {
		if got := tc.r.Shares(tc.ctx, tc.op); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}
