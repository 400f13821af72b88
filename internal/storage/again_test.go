package storage_test

import (
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// Commands are used again: of many at a time each has the answer to its own, be it a value, nothing or a refusal.
func TestACommandThatIsUsedAgainIsItsCallersAlone(t *testing.T) {
	s := open(t, redistest.Start(t).URL(), storage.Options{Timeout: 5 * time.Second})
	var callers sync.WaitGroup
	for caller := range 32 {
		callers.Go(func() {
			for n := range 100 {
				key := fmt.Sprintf("%d-%d", caller, n)
				value := key + " " + strconv.Itoa(n*7919)
				writes := []storage.Write{
					{Key: key, Value: []byte(value), TTL: time.Minute, List: "list-" + strconv.Itoa(caller), Member: storage.Member{Name: key, Left: time.Minute}},
					{Key: "first", Value: []byte("whoever's"), TTL: time.Minute},
				}
				if err := s.Each(t.Context(), writes); err != nil || !writes[0].Done || !writes[0].Listed {
					t.Errorf("%s: %+v, %v", key, writes[0], err)
				}
				if w := &writes[1]; !w.Done && string(w.Standing.Value) != "whoever's" {
					t.Errorf("%s: what stands is %q", key, w.Standing.Value)
				}
				if got, err := s.Get(t.Context(), key); err != nil || string(got.Value) != value {
					t.Errorf("%s: got %q, %v", key, got.Value, err)
				}
				if got, err := s.Get(t.Context(), "none-"+key); !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("none-%s: got %q, %v", key, got.Value, err)
				}
			}
		})
	}
	callers.Wait()
	for caller := range 32 {
		if l, err := s.Listing(t.Context(), "list-"+strconv.Itoa(caller), 0); err != nil || l.Size != 100 {
			t.Errorf("list %d: %d members, %v", caller, l.Size, err)
		}
	}
}
