package storage_test

import (
	"context"
	"errors"
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
		stores := []*storage.Store{open(t, url, storage.Options{}), open(t, url, storage.Options{})}
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
	if got, err := client.Keys(t.Context(), "*").Result(); err != nil || len(got) != 1 || got[0] != "mine:rate:k" {
		t.Errorf("got keys %q, %v, want mine:rate:k", got, err)
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
}
