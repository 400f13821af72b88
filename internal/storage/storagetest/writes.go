package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"

	"berth/internal/storage"
)

// How many writers race for one key, and how often each has to win.
const (
	writers = 16
	rounds  = 4
)

func (c *contract) getAbsent() {
	if _, err := c.engine.Get(c.Context(), "k"); !errors.Is(err, storage.ErrNotFound) {
		c.Errorf("Get: got %v, want ErrNotFound", err)
	}
}

func (c *contract) putIfAbsentCreates() {
	record, created := c.create("k", "a", long)
	if !created {
		c.Error("created: got false, want true")
	}
	c.equal(record, "a", 1)
	c.stands("k", "a", 1)
}

func (c *contract) putIfAbsentStands() {
	c.create("k", "a", long)
	record, created := c.create("k", "b", long)
	if created {
		c.Error("created: got true, want false")
	}
	c.equal(record, "a", 1)
	c.stands("k", "a", 1)
}

// An answer may be lost after the write: the caller asks again and must be able to
// tell its own record from another's.
func (c *contract) putIfAbsentRepeated() {
	c.create("k", "a", long)
	record, created := c.create("k", "a", long)
	if created {
		c.Error("created: got true, want false")
	}
	c.equal(record, "a", 1)
}

func (c *contract) putIfAbsentRace() {
	var wins [writers]bool
	var records [writers]storage.Record
	var running sync.WaitGroup
	for i := range writers {
		running.Go(func() {
			records[i], wins[i] = c.create("k", fmt.Sprint(i), long)
		})
	}
	running.Wait()
	won := 0
	for i := range writers {
		if wins[i] {
			won++
		}
		if !bytes.Equal(records[i].Value, records[0].Value) {
			c.Errorf("writer %d was told %q stands, writer 0 %q", i, records[i].Value, records[0].Value)
		}
	}
	if won != 1 {
		c.Errorf("winners: got %d, want 1", won)
	}
}

func (c *contract) swap() {
	c.create("k", "a", long)
	for version := range uint64(12) {
		record, err := c.engine.Swap(c.Context(), "k", version+1, []byte("b"), long)
		if err != nil {
			c.Fatalf("Swap at %d: %v", version+1, err)
		}
		c.equal(record, "b", version+2)
	}
	c.stands("k", "b", 13)
}

func (c *contract) swapConflict() {
	c.create("k", "a", long)
	for _, version := range []uint64{0, 2, 1 << 60} {
		record, err := c.engine.Swap(c.Context(), "k", version, []byte("b"), long)
		if !errors.Is(err, storage.ErrConflict) {
			c.Errorf("Swap at %d: got %v, want ErrConflict", version, err)
		}
		c.equal(record, "a", 1)
	}
	c.stands("k", "a", 1)
}

func (c *contract) swapAbsent() {
	for _, version := range []uint64{0, 1} {
		if _, err := c.engine.Swap(c.Context(), "k", version, []byte("b"), long); !errors.Is(err, storage.ErrNotFound) {
			c.Errorf("Swap at %d: got %v, want ErrNotFound", version, err)
		}
	}
	c.getAbsent()
}

func (c *contract) swapRace() {
	c.create("k", "", long)
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for range rounds {
				c.appendByte("k")
			}
		})
	}
	running.Wait()
	record, err := c.engine.Get(c.Context(), "k")
	if err != nil || len(record.Value) != writers*rounds || record.Version != writers*rounds+1 {
		c.Errorf("got %d bytes at version %d (%v), want %d at %d",
			len(record.Value), record.Version, err, writers*rounds, writers*rounds+1)
	}
}

// appendByte reads and swaps until it wins. Each time it loses, another has won.
func (c *contract) appendByte(key string) {
	for range writers * rounds {
		record, err := c.engine.Get(c.Context(), key)
		if err != nil {
			c.Errorf("Get: %v", err)
			return
		}
		_, err = c.engine.Swap(c.Context(), key, record.Version, append(bytes.Clone(record.Value), 'x'), long)
		if err == nil {
			return
		}
		if !errors.Is(err, storage.ErrConflict) {
			c.Errorf("Swap: %v", err)
			return
		}
	}
	c.Error("lost more often than there were others to win")
}

func (c *contract) put() {
	for version, value := range []string{"a", "b", "c"} {
		if err := c.engine.Put(c.Context(), "k", []byte(value), long); err != nil {
			c.Fatalf("Put: %v", err)
		}
		c.stands("k", value, uint64(version)+1)
	}
}

func (c *contract) remove() {
	c.create("k", "a", long)
	for range 2 {
		if err := c.engine.Delete(c.Context(), "k"); err != nil {
			c.Errorf("Delete: %v", err)
		}
	}
	c.getAbsent()
	record, created := c.create("k", "b", long)
	if !created {
		c.Error("created after Delete: got false, want true")
	}
	c.equal(record, "b", 1)
}

// Records are told in the order in which they were asked for, and what stands nowhere is the zero one.
func (c *contract) getSome() {
	c.create("{a}", "1", long)
	c.create("b", "2", long)
	records, err := storage.GetSome(c.Context(), c.engine, []string{"b", "nothing", "{a}", "b"})
	if err != nil || len(records) != 4 {
		c.Fatalf("got %d records, %v", len(records), err)
	}
	for i, want := range []string{"2", "", "1", "2"} {
		if got := records[i]; string(got.Value) != want || (got.Version == 1) != (want != "") {
			c.Errorf("record %d is %q, version %d, want %q", i, got.Value, got.Version, want)
		}
	}
	if records, err := storage.GetSome(c.Context(), c.engine, nil); err != nil || len(records) != 0 {
		c.Errorf("of none: %v, %v", records, err)
	}
}
