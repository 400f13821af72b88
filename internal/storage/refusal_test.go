package storage_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// refusals is more than enough to open a breaker that counts them.
const refusals = 10

// D12: with memory full, writes are unavailable and reads go on.
func TestFullMemoryRefusesWritesOnly(t *testing.T) {
	server := redistest.Start(t, "--maxmemory-policy", "noeviction")
	var log realtest.Journal
	s := open(t, server.URL(), storage.Options{Logger: logger(&log)})
	put(t, s, "k", "v")
	server.Do("CONFIG", "SET", "maxmemory", "1")
	for i := range refusals {
		_, _, err := s.PutIfAbsent(t.Context(), fmt.Sprint(i), []byte("x"), longLife)
		unavailable(t, err, "oom")
		_, err = s.Swap(t.Context(), "k", 1, []byte("x"), longLife)
		unavailable(t, err, "oom")
		if !reads(t, s, "k", "v") {
			t.Fatalf("reads ended after %d refused writes", i)
		}
	}
	if !s.Healthy() {
		t.Error("Healthy: got false, want true")
	}
	server.Do("CONFIG", "SET", "maxmemory", "0")
	put(t, s, "k", "w")
	for _, want := range []string{"store refuses writes", "reason=oom", "store takes writes again"} {
		if n := log.Count(want); n != 1 {
			t.Errorf("%q is told %d times:\n%s", want, n, log.String())
		}
	}
}

// A refusal of writes ends with whatever is written next, as all that berths tell of themselves is with several writes at once; what is
// removed, or finds another record standing, tells nothing.
func TestARefusalEndsWithAnyWrite(t *testing.T) {
	server := redistest.Start(t, "--maxmemory-policy", "noeviction")
	s := open(t, server.URL(), storage.Options{})
	put(t, s, "k", "v")
	for name, write := range map[string]func() error{
		"each": func() error {
			return s.Each(t.Context(), []storage.Write{{Key: "each", Value: []byte("x"), TTL: longLife, Over: true}})
		},
		"in order": func() error {
			_, _, err := s.InOrder(t.Context(), storage.Putting("in order", []byte("x"), longLife), storage.Deleting("none"))
			return err
		},
		"if absent": func() error {
			_, _, err := s.PutIfAbsent(t.Context(), "if absent", []byte("x"), longLife)
			return err
		},
	} {
		server.Do("CONFIG", "SET", "maxmemory", "1")
		if err := write(); err == nil || s.Health().Refuses.Reason != "oom" {
			t.Fatalf("%s: %v, told %+v", name, err, s.Health().Refuses)
		}
		server.Do("CONFIG", "SET", "maxmemory", "0")
		stands := []storage.Write{{Key: "k", Value: []byte("x"), TTL: longLife}}
		if err := s.Each(t.Context(), stands); err != nil || stands[0].Done {
			t.Fatalf("%s: %v, %+v", name, err, stands)
		}
		if err := s.Delete(t.Context(), "none"); err != nil || s.Health().Refuses.Reason != "oom" {
			t.Errorf("%s: %v, told %+v though nothing was written", name, err, s.Health().Refuses)
		}
		if err := write(); err != nil || s.Health().Refuses.Reason != "" {
			t.Errorf("%s: %v, told %+v", name, err, s.Health().Refuses)
		}
	}
}

// The breaker is not even half open after refusals alone: no read between them.
func TestRefusedWritesInARowLeaveTheBreakerClosed(t *testing.T) {
	server := redistest.Start(t, "--maxmemory-policy", "noeviction")
	s := open(t, server.URL(), storage.Options{})
	put(t, s, "k", "v")
	server.Do("CONFIG", "SET", "maxmemory", "1")
	for range refusals {
		unavailable(t, s.Put(t.Context(), "k", nil, longLife), "oom")
	}
	if !reads(t, s, "k", "v") {
		t.Error("reads ended")
	}
}

// D11: a read-only replica serves reads, refuses writes, and takes them once it is
// promoted.
func TestReplicaRefusesWritesOnly(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	put(t, s, "k", "v")
	server.Do("REPLICAOF", "127.0.0.1", "1")
	for range refusals {
		unavailable(t, s.Put(t.Context(), "k", []byte("x"), longLife), "readonly")
	}
	if !reads(t, s, "k", "v") || !s.Healthy() {
		t.Error("a replica that reads was taken for an outage")
	}
	server.Do("REPLICAOF", "NO", "ONE")
	put(t, s, "k", "w")
}

// Redis that cannot save to its disk refuses writes, and PING with them: it reads on, and is not away.
func TestRedisThatCannotSaveRefusesWritesOnly(t *testing.T) {
	server := redistest.Start(t, "--save", "1 1")
	var log realtest.Journal
	s := open(t, server.URL(), storage.Options{Logger: logger(&log)})
	put(t, s, "k", "v")
	if err := os.RemoveAll(server.Dir); err != nil {
		t.Fatal(err)
	}
	realtest.Eventually(t, "writes are refused", func() bool { return s.Put(t.Context(), "k", []byte("v"), longLife) != nil })
	for range refusals {
		unavailable(t, s.Put(t.Context(), "k", nil, longLife), "disk")
		if err := s.Ping(t.Context()); err != nil {
			t.Errorf("Ping: %v", err)
		}
	}
	if !reads(t, s, "k", "v") || !s.Healthy() {
		t.Error("a server that reads was taken for an outage")
	}
	server.Do("CONFIG", "SET", "stop-writes-on-bgsave-error", "no")
	put(t, s, "k", "w")
	for words, want := range map[string]int{"store refuses writes": 1, "reason=disk": 1, "store takes writes again": 1, "store lost": 0} {
		if n := log.Count(words); n != want {
			t.Errorf("%q is told %d times, want %d:\n%s", words, n, want, log.String())
		}
	}
}

// D11: a replica that lost its master and serves nothing is away, not empty.
func TestReplicaWithoutMasterIsUnavailable(t *testing.T) {
	server := redistest.Start(t, "--replica-serve-stale-data", "no")
	s := open(t, server.URL(), storage.Options{})
	put(t, s, "k", "v")
	server.Do("REPLICAOF", "127.0.0.1", "1")
	_, err := s.Get(t.Context(), "k")
	unavailable(t, err, "loading")
	realtest.Eventually(t, "unhealthy", func() bool { return !reads(t, s, "k", "v") && !s.Healthy() })
	server.Do("REPLICAOF", "NO", "ONE")
	run(t, s)
	realtest.Eventually(t, "healthy", s.Healthy)
	if !reads(t, s, "k", "v") {
		t.Error("the record is gone")
	}
}

// D11: a server that still loads is away, not empty.
func TestLoadingRedisIsUnavailable(t *testing.T) {
	const keys = 300
	// While it loads, Redis answers once in so many bytes of file: each record has to
	// be that long in the file too.
	server := redistest.Start(t, "--rdbcompression", "no")
	server.Needs(7, "before it, what loads answers once in 2 MB, however long these take")
	s := open(t, server.URL(), storage.Options{})
	for i := range keys {
		put(t, s, fmt.Sprint(i), strings.Repeat("v", 1024))
	}
	server.Do("SAVE")
	server.Restart("--key-load-delay", "10000", "--loading-process-events-interval-bytes", "1024")
	for range 3 {
		_, err := s.Get(t.Context(), "7")
		unavailable(t, err, "loading")
	}
	_, err := s.Get(t.Context(), "7")
	unavailable(t, err, "breaker_open")

	run(t, s)
	realtest.Eventually(t, "loaded", func() bool {
		record, err := s.Get(t.Context(), "7")
		if errors.Is(err, storage.ErrNotFound) {
			t.Fatal("Get: got ErrNotFound while loading")
		}
		return len(record.Value) == 1024
	})
	realtest.Eventually(t, "healthy", s.Healthy)
}

// D15: a server that forgot the script is sent its text again.
func TestForgottenScriptIsSentAgain(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	for i := range 3 {
		server.Do("SCRIPT", "FLUSH")
		if _, created, err := s.PutIfAbsent(t.Context(), fmt.Sprint(i), nil, longLife); err != nil || !created {
			t.Errorf("PutIfAbsent: got created %v, %v; want true", created, err)
		}
	}
}

// A right to read that is missing is no outage, and the log says what may not be asked, without a key.
func TestRefusedReadsAreLogged(t *testing.T) {
	server := redistest.Start(t)
	server.Do("ACL", "SETUSER", "writer", "on", ">secret", "~*", "&*", "+@all", "-get", "-getrange")
	var log realtest.Journal
	s := open(t, strings.Replace(server.URL(), "redis://", "redis://writer:secret@", 1), storage.Options{Logger: logger(&log)})
	for range refusals {
		_, err := s.Get(t.Context(), "telltale")
		unavailable(t, err, "auth")
	}
	server.Do("ACL", "SETUSER", "writer", "+get", "+getrange")
	realtest.Eventually(t, "reads", func() bool { _, err := s.Get(t.Context(), "telltale"); return errors.Is(err, storage.ErrNotFound) })
	server.Do("RPUSH", "berth:telltale", "x")
	for range refusals {
		_, err := s.Get(t.Context(), "telltale")
		unavailable(t, err, "other")
		if _, err := s.Swap(t.Context(), "telltale", 1, []byte("x"), longLife); err == nil {
			t.Error("a list is overwritten")
		}
	}
	if !s.Healthy() {
		t.Error("Healthy: got false, want true")
	}
	for _, want := range []string{"store refuses what berth asks", "reason=auth", "NOPERM", "store answers what berth asks again", "store holds what berth has not written", "WRONGTYPE"} {
		if n := log.Count(want); n != 1 {
			t.Errorf("%q is told %d times:\n%s", want, n, log.String())
		}
	}
	if log.Count("telltale")+log.Count("secret") > 0 {
		t.Errorf("a key or a secret is told:\n%s", log.String())
	}
}
