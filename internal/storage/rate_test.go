package storage_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"

	"github.com/redis/go-redis/v9"
)

// Whoever shares a server shares a rate, however many ask at a time, one by one or on a cluster.
func TestRateIsOneForAllWhoShareAStore(t *testing.T) {
	t.Parallel()
	for what, url := range map[string]string{"one server": redistest.Start(t).URL(), "a cluster": redistest.StartCluster(t, 3, 0).URL()} {
		patient := storage.Options{Timeout: time.Minute} // what is in time is not looked at here
		stores := []*storage.Store{open(t, url, patient), open(t, url, patient)}
		rate := storage.Rate{Count: 1, Period: time.Hour, Burst: 20}
		var allowed, refused atomic.Int64
		var asking sync.WaitGroup
		for i := range 60 {
			asking.Go(func() {
				switch wait, err := stores[i%2].TakeRate(context.Background(), "rule:alice", rate, 1); {
				case err != nil:
					t.Errorf("%s: %v", what, err)
				case wait == 0:
					allowed.Add(1)
				case wait > 50*time.Minute && wait <= time.Hour:
					refused.Add(1)
				default:
					t.Errorf("%s: told to wait %v", what, wait)
				}
			})
		}
		asking.Wait()
		if allowed.Load() != 20 || refused.Load() != 40 {
			t.Errorf("%s: %d allowed, %d refused, want 20 and 40", what, allowed.Load(), refused.Load())
		}
		if wait, err := stores[0].TakeRate(t.Context(), "rule:bob", rate, 100); wait != 0 || err != nil {
			t.Errorf("%s: more than a burst of another one, who has used nothing: got %v, %v", what, wait, err)
		}
		if wait, err := stores[1].TakeRate(t.Context(), "rule:bob", rate, 1); err != nil || wait < 80*time.Hour || wait > 81*time.Hour {
			t.Errorf("%s: after 100 of 20, one an hour: told to wait %v, %v, want 81h", what, wait, err)
		}
	}
}

// What was used up at one rate is not owed at another: a rule that was too tight is loosened at once.
func TestARateThatHasChangedBeginsWithAFullBurst(t *testing.T) {
	t.Parallel()
	s := open(t, redistest.Start(t).URL(), storage.Options{})
	tight, loose := storage.Rate{Count: 10, Period: time.Hour, Burst: 20}, storage.Rate{Count: 600, Period: time.Minute, Burst: 10}
	take := func(rate storage.Rate, n int) time.Duration {
		t.Helper()
		wait, err := s.TakeRate(t.Context(), "k", rate, n)
		if err != nil {
			t.Fatal(err)
		}
		return wait
	}
	take(tight, 20)
	if wait := take(loose, 10); wait != 0 {
		t.Errorf("at another rate: told to wait %v", wait)
	}
	if wait := take(tight, 1); wait == 0 {
		t.Error("what was used up at the first rate is forgotten")
	}
	if wait, err := s.RateWait(t.Context(), "k", loose, 10); wait == 0 || err != nil {
		t.Errorf("what was taken at the other one: told to wait %v, %v", wait, err)
	}
}

// A clock of the server's that goes back holds nobody back: what was owed is owed, and is earned back from then on.
func TestARateOutlivesAClockThatGoesBack(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	options, err := redis.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	rate := storage.Rate{Count: 1, Period: time.Hour, Burst: 20}
	if _, err := s.TakeRate(t.Context(), "k", rate, 5); err != nil {
		t.Fatal(err)
	}
	key := client.Keys(t.Context(), "*").Val()[0]
	written := func() (at time.Time, owed string) {
		t.Helper()
		moment, owed, _ := strings.Cut(client.Get(t.Context(), key).Val(), " ")
		us, err := strconv.ParseInt(moment, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return time.UnixMicro(us), owed
	}
	at, owed := written()
	client.Set(t.Context(), key, fmt.Sprintf("%d %s", at.Add(100*time.Hour).UnixMicro(), owed), 0) // as if the clock were back by that

	if wait, err := s.TakeRate(t.Context(), "k", rate, 16); err != nil || wait > time.Hour || wait < 59*time.Minute {
		t.Errorf("16 of 15 that are left: told to wait %v, %v, want an hour", wait, err)
	}
	if again, _ := written(); again.Sub(client.Time(t.Context()).Val()) > 0 {
		t.Errorf("the clock's own time is not known after a refusal: nothing is earned back until %v", again)
	}
	if wait, err := s.TakeRate(t.Context(), "k", rate, 15); err != nil || wait != 0 {
		t.Errorf("15 of 15 that are left: told to wait %v, %v", wait, err)
	}
}

// Who asks how long to wait is told what a taking would be told, and takes nothing.
func TestWhetherARateHasRoomIsToldWithoutTakingIt(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	rate := storage.Rate{Count: 1, Period: time.Hour, Burst: 20}
	waits := func(what string, n int, want time.Duration) {
		t.Helper()
		for range 3 {
			wait, err := s.RateWait(t.Context(), "k", rate, n)
			if err != nil || wait > want || wait < want-time.Minute {
				t.Errorf("%s: %d would wait %v, %v, want %v", what, n, wait, err, want)
			}
		}
	}
	take := func(n int, want time.Duration) {
		t.Helper()
		wait, err := s.TakeRate(t.Context(), "k", rate, n)
		if err != nil || wait > want || wait < want-time.Minute {
			t.Errorf("%d are told to wait %v, %v, want %v", n, wait, err, want)
		}
	}
	waits("unused", 1, 0)
	waits("unused", 100, 0)
	take(19, 0)
	waits("one is left", 1, 0)
	waits("one is left", 2, time.Hour)
	take(2, time.Hour)
	take(1, 0)
	waits("none is left", 1, time.Hour)
	waits("none is left", 20, 20*time.Hour)
	waits("none is left", 100, 20*time.Hour) // then nothing of it is used
	take(100, 20*time.Hour)
}

// Keys of rates begin as all others of the store's, which permissions may rest on.
func TestRatesHaveThePrefixOfTheStore(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{Prefix: "mine:"})
	if _, err := s.TakeRate(t.Context(), "k", storage.Rate{Count: 1, Period: time.Hour, Burst: 1}, 1); err != nil {
		t.Fatal(err)
	}
	options, err := redis.ParseURL(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(options)
	defer client.Close()
	if got, err := client.Keys(t.Context(), "*").Result(); err != nil || len(got) != 1 || !strings.HasPrefix(got[0], "mine:rate:k:") {
		t.Errorf("got keys %q, %v, want one that begins with mine:rate:k", got, err)
	}
}

func TestStoresOfOneProcessHaveNoRates(t *testing.T) {
	s := open(t, "memory:", storage.Options{})
	if _, err := s.TakeRate(t.Context(), "k", storage.Rate{Count: 1, Period: time.Hour, Burst: 1}, 1); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("got %v, want that it is not supported", err)
	}
}

func TestRateOfAStoreThatIsAwayIsUnavailable(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	server.Kill()
	if _, err := s.TakeRate(t.Context(), "k", storage.Rate{Count: 1, Period: time.Hour, Burst: 1}, 1); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("got %v, want that it is away", err)
	}
	if _, err := s.RateWait(t.Context(), "k", storage.Rate{Count: 1, Period: time.Hour, Burst: 1}, 1); !errors.Is(err, storage.ErrUnavailable) {
		t.Errorf("asking alone: got %v, want that it is away", err)
	}
}
