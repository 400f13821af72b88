package storagetest

import (
	"context"
	"errors"
	"time"

	"berth/internal/storage"
)

const (
	// short is a life that a case waits to end.
	short = 40 * time.Millisecond

	// goneWithin bounds how long an expired key may still be found.
	goneWithin = 30 * time.Second
)

func (c *contract) expire() {
	c.create("k", "a", short)
	c.create("other", "b", long)
	c.create("endless", "c", 0)
	c.awaitGone("k")
	c.stands("other", "b", 1)
	c.stands("endless", "c", 1)
}

func (c *contract) expiredIsAbsent() {
	c.create("k", "a", short)
	c.awaitGone("k")
	if _, err := c.engine.Swap(c.Context(), "k", 1, []byte("b"), long); !errors.Is(err, storage.ErrNotFound) {
		c.Errorf("Swap: got %v, want ErrNotFound", err)
	}
	if record, created := c.create("k", "b", long); !created || record.Version != 1 {
		c.Errorf("got version %d, created %v; want 1, true", record.Version, created)
	}
}

func (c *contract) swapExpiry() {
	c.create("k", "a", long)
	if _, err := c.engine.Swap(c.Context(), "k", 1, []byte("b"), short); err != nil {
		c.Fatalf("Swap: %v", err)
	}
	c.awaitGone("k")
}

func (c *contract) swapKeepsExpiry() {
	c.create("k", "a", short)
	c.create("endless", "a", 0)
	for _, key := range []string{"k", "endless"} {
		_, err := c.engine.Swap(c.Context(), key, 1, []byte("b"), storage.KeepTTL)
		if err != nil && !errors.Is(err, storage.ErrNotFound) { // a busy machine was slow
			c.Fatalf("Swap: %v", err)
		}
	}
	c.awaitGone("k")
	c.stands("endless", "b", 2)
	c.create("k", "a", long)
	if _, err := c.engine.Swap(c.Context(), "k", 1, []byte("b"), storage.KeepTTL); err != nil {
		c.Fatalf("Swap: %v", err)
	}
	c.stands("k", "b", 2)
}

func (c *contract) putKeepsExpiry() {
	c.create("k", "a", short)
	for _, key := range []string{"k", "new"} {
		if err := c.engine.Put(c.Context(), key, []byte("b"), storage.KeepTTL); err != nil {
			c.Fatalf("Put: %v", err)
		}
	}
	if record, err := c.engine.Get(c.Context(), "k"); err == nil && record.Version == 2 {
		c.awaitGone("k")
	}
	c.stands("new", "b", 1)
}

// awaitGone polls until key is not found, or the case's deadline ends it.
func (c *contract) awaitGone(key string) {
	c.Helper()
	ctx, cancel := context.WithTimeout(c.Context(), goneWithin)
	defer cancel()
	poll := time.NewTicker(short / 4)
	defer poll.Stop()
	for {
		_, err := c.engine.Get(ctx, key)
		if errors.Is(err, storage.ErrNotFound) {
			return
		}
		if err != nil {
			c.Fatalf("Get %q: got %v, want ErrNotFound in the end", key, err)
		}
		<-poll.C
	}
}

// clock checks that the time is that of the machine that all parts of a test share.
func (c *contract) clock() {
	before := time.Now().Add(-time.Microsecond) // what Redis rounds down to
	now, err := c.engine.Now(context.Background())
	if err != nil {
		c.Fatal(err)
	}
	if after := time.Now(); now.Before(before) || now.After(after) {
		c.Errorf("Now: got %v, want it between %v and %v", now, before, after)
	}
}
