package file

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage/engine"
	"berth/internal/storage/health"

	"go.etcd.io/bbolt"
)

// format is what the file says of itself.
func (e *Engine) format(t *testing.T) (format string) {
	t.Helper()
	e.view(t, func(tx *bbolt.Tx) { format = string(tx.Bucket(bucketFormat).Get(keyFormat)) })
	return format
}

// A file that was made without lists, by a berth of before them too, is read as it is, and
// that berth may go back to it. The first list puts an end to that.
func TestFileWithoutListsStaysOne(t *testing.T) {
	e := openEngine(t)
	e.mustPut(t, "k", time.Hour)
	if members, err := e.Members(t.Context(), "l"); err != nil || len(members) != 0 {
		t.Errorf("Members: got %q, %v, want none", members, err)
	}
	if err := e.RemoveMember(t.Context(), "l", "a"); err != nil {
		t.Errorf("RemoveMember: %v", err)
	}
	e.view(t, func(tx *bbolt.Tx) {
		if countBuckets(tx, listBuckets) != 0 {
			t.Error("the buckets of lists: got some, want none before the first list")
		}
	})
	if got := e.format(t); got != "1" {
		t.Errorf("format without lists: got %s, want 1", got)
	}
	mustEnlist(t, e, "l", "a", time.Hour)
	if got := e.format(t); got != "2" {
		t.Errorf("format with lists: got %s, want 2", got)
	}
}

// What expired is removed, though nobody asks for the list again.
func TestFileCollectsMembersThatExpired(t *testing.T) {
	e := openEngine(t)
	for i := range 3 * collectAtOnce {
		mustEnlist(t, e, fmt.Sprint("l", i%7), fmt.Sprint(i), time.Millisecond)
	}
	mustEnlist(t, e, "l", "long", time.Hour)
	mustEnlist(t, e, "l", "good", 0)
	realtest.Eventually(t, "what expired is gone", func() bool {
		var members, departures int
		e.view(t, func(tx *bbolt.Tx) {
			members, departures = tx.Bucket(bucketMembers).Stats().KeyN, tx.Bucket(bucketDepartures).Stats().KeyN
		})
		return members == 2 && departures == 1
	})
}

// A member that is another than was written is an error to who asks for its list, and to
// who opens the file.
func TestDamagedMembersAreNotBelieved(t *testing.T) {
	path := filepath.Join(t.TempDir(), "berth.db")
	open := func() (*Engine, error) {
		log := slog.New(slog.DiscardHandler)
		return Open(t.Context(), path, Options{Log: log}, health.New(log, true))
	}
	e, err := open()
	if err != nil {
		t.Fatal(err)
	}
	mustEnlist(t, e, "l", "a", time.Hour)
	mustEnlist(t, e, "other", "a", time.Hour)
	err = e.db.Update(func(tx *bbolt.Tx) error {
		key := memberKey("l", "a")
		b := append([]byte(nil), tx.Bucket(bucketMembers).Get(key)...)
		b[7] ^= 1
		return tx.Bucket(bucketMembers).Put(key, b)
	})
	if err != nil {
		t.Fatal(err)
	}
	if members, err := e.Members(t.Context(), "l"); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("Members: got %q, %v, want ErrUnavailable", members, err)
	}
	if err := e.AddMember(t.Context(), "l", "b", time.Hour, 5); !errors.Is(err, engine.ErrUnavailable) {
		t.Errorf("AddMember: got %v, want ErrUnavailable", err)
	}
	if members, err := e.Members(t.Context(), "other"); err != nil || len(members) != 1 {
		t.Errorf("Members of another list: got %q, %v, want one", members, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := open(); !errors.Is(err, errCorrupt) {
		t.Errorf("Open: got %v, want that the file is damaged", err)
	}
}

func mustEnlist(t *testing.T, e engine.Engine, list, member string, ttl time.Duration) {
	t.Helper()
	if err := e.AddMember(t.Context(), list, member, ttl, 0); err != nil {
		t.Fatalf("AddMember: %v", err)
	}
}
