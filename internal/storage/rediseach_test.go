package storage_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// made has Each make a record with its place in list l.
func made(t *testing.T, s *storage.Store, name string, left time.Duration) {
	t.Helper()
	w := []storage.Write{{Key: "r" + name, Value: []byte("v"), TTL: longLife, List: "l", Member: storage.Member{Name: name, Left: left}}}
	if err := s.Each(t.Context(), w); err != nil || !w[0].Done || !w[0].Listed {
		t.Fatalf("Each: %+v, %v", w[0], err)
	}
}

// A list outlives its last member, whichever script has made that one, and ends then.
func TestAListLivesAsLongAsWhatIsListedWithItsRecord(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	enlisted := func(name string, left time.Duration) { enlist(t, s, "l", name, left) }
	eached := func(name string, left time.Duration) { made(t, s, name, left) }
	for _, tc := range []struct {
		member string
		make   func(name string, left time.Duration)
		left   time.Duration
		list   time.Duration // that it has left then; 0: it does not expire
	}{
		{"a", eached, time.Hour, time.Hour},
		{"b", enlisted, 2 * time.Hour, 2 * time.Hour},
		{"c", eached, time.Minute, 2 * time.Hour},
		{"d", eached, 3 * time.Hour, 3 * time.Hour},
		{"e", enlisted, time.Minute, 3 * time.Hour},
		{"f", eached, 0, 0},
		{"g", eached, 4 * time.Hour, 0},
	} {
		tc.make(tc.member, tc.left)
		left, err := strconv.Atoi(strings.TrimPrefix(server.Do("PTTL", "berth:l"), ":"))
		if err != nil {
			t.Fatal(err)
		}
		life := time.Duration(left) * time.Millisecond
		if tc.list == 0 && left != -1 || tc.list > 0 && (life > tc.list+2*time.Millisecond || life < tc.list-time.Minute/2) {
			t.Errorf("with %s: got a list that lives for %v, want %v", tc.member, life, tc.list)
		}
	}
	members(t, s, "l", "c", "e", "a", "b", "d", "g", "f")
	if err := s.RemoveMember(t.Context(), "l", "f"); err != nil {
		t.Fatal(err)
	}
	made(t, s, "h", time.Minute) // which is not the last
	if left := server.Do("PTTL", "berth:l"); left == ":-1" {
		t.Error("the list does not expire, though each of its members does")
	}
}

// What has expired is removed in the end by those whose records come later.
func TestListsOfRecordsDoNotGrow(t *testing.T) {
	const many, most = 100, 2000
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	made(t, s, "stays", longLife)
	for i := range many {
		made(t, s, fmt.Sprint(i), time.Millisecond)
	}
	realtest.Eventually(t, "they have expired", func() bool {
		standing, err := s.Members(t.Context(), "l")
		return err == nil && len(standing) == 1
	})
	for i := range most {
		made(t, s, fmt.Sprint("later ", i), longLife)
		if server.Do("ZCARD", "berth:l") == fmt.Sprint(":", i+2) {
			return
		}
	}
	t.Errorf("of %d that have expired some stand still, after %d that came", many, most)
}

// What stands in the way of a record is written again as it is, with the life that it has: WAIT answers for that.
func TestRecordsInTheWayAreConfirmed(t *testing.T) {
	t.Parallel()
	master, replica := withReplica(t)
	first, second := waiting(t, master), waiting(t, master)
	write := func(s *storage.Store) (storage.Write, error) {
		w := []storage.Write{{Key: "k", Value: []byte("v"), TTL: longLife, List: "l", Member: storage.Member{Name: "m", Left: longLife}}}
		err := s.Each(t.Context(), w)
		return w[0], err
	}
	replica.Stop()
	_, err := write(first)
	unavailable(t, err, "unreplicated")
	_, err = write(second)
	unavailable(t, err, "unreplicated")
	replica.Cont()
	said := master.Monitor()
	w, err := write(second)
	if err != nil || w.Done || w.Listed || string(w.Standing.Value) != "v" {
		t.Errorf("got %+v, %v; want what stands", w, err)
	}
	realtest.Eventually(t, "the wait is seen", func() bool { return said.Count(`"wait"`) == 1 })
	if said.Count(`"KEEPTTL"`) != 1 {
		t.Errorf("commands: got %s, want what stands to be written", said.String())
	}
	if ttl := master.Do("PTTL", "berth:k"); ttl == ":-1" || ttl == ":-2" {
		t.Errorf("PTTL of what was confirmed: got %s, want the life that it had", ttl)
	}
}
