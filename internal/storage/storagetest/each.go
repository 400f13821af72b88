package storagetest

import (
	"context"

	"berth/internal/storage"
)

// each: records are made where nothing stands, or over it, and their members with them.
func (c *contract) each() {
	store, ok := c.engine.(interface {
		Each(ctx context.Context, writes []storage.Write) error
	})
	if !ok {
		c.Skip("no store")
	}
	ctx := c.Context()
	do := func(writes ...storage.Write) []storage.Write {
		c.Helper()
		if err := store.Each(ctx, writes); err != nil {
			c.Fatalf("Each: %v", err)
		}
		return writes
	}
	is := func(w storage.Write, done, listed bool, standing string) {
		c.Helper()
		if !w.Done && w.Listed { // as where their servers may be several
			w.Listed = false
			if err := c.engine.RemoveMember(ctx, w.List, w.Member.Name); err != nil {
				c.Error(err)
			}
		}
		if w.Done != done || w.Listed != listed || string(w.Standing.Value) != standing {
			c.Errorf("%s: got done %v, listed %v, standing %q, want %v, %v, %q", w.Key, w.Done, w.Listed, w.Standing.Value, done, listed, standing)
		}
	}
	lives := storage.Member{Name: "a", Left: long}
	first := do(
		storage.Write{Key: "a", Value: []byte("1"), TTL: long, List: "l", Member: lives},
		storage.Write{Key: "b", Value: []byte("2")},
		storage.Write{Key: "c", Value: []byte("3"), TTL: long, Over: true},
	)
	is(first[0], true, true, "")
	is(first[1], true, false, "")
	is(first[2], true, false, "")
	again := do(
		storage.Write{Key: "b", Value: []byte("x"), TTL: long, List: "l", Member: storage.Member{Name: "b", Left: long}},
		storage.Write{Key: "d", Value: []byte("4"), TTL: long, List: "l", Member: storage.Member{Name: "d"}},
		storage.Write{Key: "c", Value: []byte("5"), TTL: storage.KeepTTL, Over: true, List: "m", Member: storage.Member{Name: "c", Left: 2 * long}},
	)
	is(again[0], false, false, "2")
	is(again[1], true, true, "")
	is(again[2], true, true, "")
	alone := storage.Write{Key: "f", Value: []byte("7"), TTL: long, List: "l", Member: storage.Member{Name: "f", Left: long}}
	is(do(alone)[0], true, true, "")
	alone.Value, alone.List = []byte("8"), "m"
	is(do(alone)[0], false, false, "7")
	for key, want := range map[string]string{"a": "1", "b": "2", "c": "5", "d": "4", "f": "7"} {
		record, err := c.engine.Get(ctx, key)
		version := uint64(1)
		if key == "c" {
			version = 2
		}
		if err != nil || string(record.Value) != want || record.Version != version {
			c.Errorf("%s: got %q at %d, %v, want %q at %d", key, record.Value, record.Version, err, want, version)
		}
	}
	for list, want := range map[string]int{"l": 3, "m": 1} {
		if got, err := c.engine.Listing(ctx, list, 9); err != nil || got.Size != want {
			c.Errorf("%s: got %+v, %v, want %d members", list, got, err, want)
		}
	}
	reused := []byte("9")
	do(storage.Write{Key: "g", Value: reused, TTL: long})
	reused[0] = 'x'
	if got, err := c.engine.Get(ctx, "g"); err != nil || string(got.Value) != "9" {
		c.Errorf("g: got %q, %v, want what its writer had when it wrote", got.Value, err)
	}
	do(storage.Write{Key: "e", Value: []byte("6"), TTL: short})
	c.awaitGone("e")
}
