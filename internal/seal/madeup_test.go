package seal

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/storagetest"
)

// asked counts what a store is asked. Each reading takes 2 ms.
type asked struct {
	*storage.Store
	reads, writes atomic.Int32
}

func (*asked) Shared() bool { return true }

func (a *asked) Get(ctx context.Context, key string) (storage.Record, error) {
	a.reads.Add(1)
	time.Sleep(2 * time.Millisecond)
	return a.Store.Get(ctx, key)
}

func (a *asked) AddMember(ctx context.Context, list, member string, life time.Duration, most int) error {
	a.writes.Add(1)
	return a.Store.AddMember(ctx, list, member, life, most)
}

// Anybody can make tokens up: however many come, the store is read so often, and nobody writes for them.
func TestMadeUpTokensShareReadingsOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &asked{Store: storagetest.OpenMemory(t)}
		k := NewStoredKeyring(store)
		if _, err := k.Seal(t.Context(), "p", nil, nil, time.Hour); err != nil {
			t.Fatal(err)
		}
		for range keptKeys - 1 { // what flushes leave behind
			secret := make([]byte, MinSecret)
			_, _ = rand.Read(secret)
			if _, err := k.take(secret, 1); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		store.reads.Store(0)
		store.writes.Store(0)
		madeUp := make([]byte, shortest)
		madeUp[0] = version
		token := base64.RawURLEncoding.EncodeToString(madeUp)
		began := time.Now()
		done := make(chan error, 1000)
		for range cap(done) {
			go func() {
				_, _, err := k.OpenAny(t.Context(), "p", [][]string{{"a"}, {"b"}}, token)
				done <- err
			}()
		}
		for range cap(done) {
			if err := <-done; !errors.Is(err, ErrInvalid) {
				t.Fatalf("made up: %v", err)
			}
		}
		if n := store.reads.Load(); n > 4 || store.writes.Load() != 0 {
			t.Errorf("the store was read %d times, and written to %d times", n, store.writes.Load())
		}
		if d := time.Since(began); d > 4*rereadEvery {
			t.Errorf("they waited for %v", d)
		}
	})
}
