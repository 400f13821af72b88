package renewal

import (
	"context"
	"errors"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/storagetest"
)

// mute takes swaps and does not say so while it is mute.
type mute struct {
	storage.Engine
	mute bool
}

func (m *mute) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (storage.Record, error) {
	standing, err := m.Engine.Swap(ctx, key, version, value, ttl)
	if m.mute {
		return storage.Record{}, storage.ErrUnavailable
	}
	return standing, err
}

// A swap in vain is not confirmed either where the store lacks replicas: a record that was taken unconfirmed is looked for at its version.
func TestARecordThatWasTakenUnconfirmedIsRenewed(t *testing.T) {
	store := &mute{Engine: storagetest.OpenMemory(t)}
	r := NewRecord(store, "key", time.Minute)
	if err := r.Renew(t.Context(), []byte("0")); !errors.Is(err, storage.ErrNotFound) || r.IsBegun() {
		t.Fatalf("where it does not stand: %v, begun %v", err, r.IsBegun())
	}
	if err := r.Begin(t.Context(), []byte("0")); err != nil || !r.IsBegun() {
		t.Fatalf("begun: %v, %v", err, r.IsBegun())
	}
	store.mute = true
	for _, value := range []string{"1", "2", "3"} {
		if err := r.Renew(t.Context(), []byte(value)); !errors.Is(err, storage.ErrUnavailable) {
			t.Errorf("unconfirmed: %v", err)
		}
		if standing, err := store.Get(t.Context(), "key"); err != nil || string(standing.Value) != value {
			t.Errorf("there stands %q, %v, want %q", standing.Value, err, value)
		}
	}
	store.mute = false
	if err := r.Renew(t.Context(), []byte("4")); err != nil {
		t.Errorf("confirmed again: %v", err)
	}
}

// Two goroutines that renew it at once, as of a version that neither has seen replaced.
func TestARecordThatWasRenewedMeanwhileIsRenewed(t *testing.T) {
	store := storagetest.OpenMemory(t)
	r := NewRecord(store, "key", time.Minute)
	if err := r.Begin(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Swap(t.Context(), "key", r.version, nil, time.Minute); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Renew(t.Context(), nil); err != nil {
			t.Error(err)
		}
	}
}

// What somebody else has put in its place for a moment is not the record, whether that stands yet or has just gone.
func TestARecordIsBegunOverWhatStandsThereForAMoment(t *testing.T) {
	for _, gone := range []bool{false, true} {
		store := &brief{Engine: storagetest.OpenMemory(t), gone: gone}
		if err := store.Put(t.Context(), "key", []byte("asked"), 0); err != nil {
			t.Fatal(err)
		}
		if err := NewRecord(store, "key", time.Minute).Begin(t.Context(), []byte("stands")); err != nil {
			t.Errorf("gone %v: %v", gone, err)
		}
		if standing, err := store.Get(t.Context(), "key"); err != nil || string(standing.Value) != "stands" {
			t.Errorf("gone %v: there stands %q, %v", gone, standing.Value, err)
		}
	}
}

// brief has what stood go before it is written over, if gone says so.
type brief struct {
	storage.Engine
	gone bool
}

func (b *brief) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (storage.Record, error) {
	if b.gone {
		_ = b.Engine.Delete(ctx, key)
	}
	return b.Engine.Swap(ctx, key, version, value, ttl)
}
