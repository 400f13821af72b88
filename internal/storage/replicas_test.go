package storage_test

import (
	"fmt"
	"regexp"
	"slices"
	"sync"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

// withReplica starts a master with one replica that has begun to follow it.
func withReplica(t *testing.T) (master, replica *redistest.Server) {
	t.Helper()
	set := redistest.StartReplicas(t, 1)
	return set[0], set[1]
}

// waiting opens a store on server whose writes wait for one replica.
func waiting(t *testing.T, server *redistest.Server) *storage.Store {
	t.Helper()
	s := open(t, server.URL(), storage.Options{Durability: "replicas:1", Timeout: time.Second}) // WAIT has 600 ms of it, and a busy machine the rest
	put(t, s, "first", "v")                                                                     // from now on the server knows the script
	return s
}

// A write that no replica has is not acknowledged, and one that a replica has is.
func TestUnreplicatedWritesAreNotAcknowledged(t *testing.T) {
	t.Parallel()
	master, replica := withReplica(t)
	s := waiting(t, master)
	replica.Stop()
	for i := range refusals {
		_, _, err := s.PutIfAbsent(t.Context(), fmt.Sprint(i), []byte("v"), longLife)
		unavailable(t, err, "unreplicated")
	}
	unavailable(t, s.Put(t.Context(), "first", []byte("w"), longLife), "unreplicated")
	if !reads(t, s, "first", "w") || !s.Healthy() {
		t.Error("a lagging replica was taken for an outage of the store")
	}
	replica.Cont()
	for i := range refusals {
		standing, created, err := s.PutIfAbsent(t.Context(), fmt.Sprint(i), []byte("v"), longLife)
		if err != nil || created || standing.Version != 1 {
			t.Errorf("PutIfAbsent again: got version %d, created %v, %v; want our own first", standing.Version, created, err)
		}
		if got := replica.Do("GET", "berth:"+fmt.Sprint(i)); got != "1:v" {
			t.Errorf("at the replica: got %q, want the record", got)
		}
	}
}

// Finding a record in place is no proof that a replica has it, over whichever
// connection it was written: it is the same promise as to have written it.
func TestStandingRecordsAreConfirmedToo(t *testing.T) {
	t.Parallel()
	master, replica := withReplica(t)
	first, second := waiting(t, master), waiting(t, master)
	replica.Stop()
	_, _, err := first.PutIfAbsent(t.Context(), "k", []byte("v"), longLife)
	unavailable(t, err, "unreplicated")
	for range 2 {
		_, _, err = second.PutIfAbsent(t.Context(), "k", []byte("v"), longLife)
		unavailable(t, err, "unreplicated")
		_, err = second.Swap(t.Context(), "k", 7, []byte("w"), longLife)
		unavailable(t, err, "unreplicated")
	}
	replica.Cont()
	standing, created, err := second.PutIfAbsent(t.Context(), "k", []byte("v"), longLife)
	if err != nil || created || standing.Version != 1 || string(standing.Value) != "v" {
		t.Errorf("got %q at %d, created %v, %v; want what stands at 1", standing.Value, standing.Version, created, err)
	}
	if ttl := master.Do("PTTL", "berth:k"); ttl == ":-1" || ttl == ":-2" {
		t.Errorf("PTTL of what was confirmed: got %s, want the life that it had", ttl)
	}
}

// WAIT answers for the connection that it comes in on, and since Redis 7.2 only for
// what that connection wrote: both writes, and of a record that stands too, have to go
// out on one. Older servers forgive what newer do not, so the commands are looked at.
func TestWaitFollowsTheWriteOnItsConnection(t *testing.T) {
	t.Parallel()
	master, _ := withReplica(t)
	s := waiting(t, master)
	said := master.Monitor()
	for range 2 {
		if _, _, err := s.PutIfAbsent(t.Context(), "k", []byte("v"), longLife); err != nil {
			t.Fatalf("PutIfAbsent: %v", err)
		}
	}
	// time [db client] "command" ...; "lua" is the client of what the script does.
	executed := regexp.MustCompile(`\[0 (\S+)\] "(\w+)"`)
	var commands, clients []string
	realtest.Eventually(t, "both are seen", func() bool {
		commands, clients = nil, nil
		waits := 0
		for _, match := range executed.FindAllStringSubmatch(said.String(), -1) {
			clients, commands = append(clients, match[1]), append(commands, match[2])
			if match[2] == "wait" {
				waits++
			}
		}
		return waits == 2
	})
	want := []string{"evalsha", "GET", "SET", "wait", "evalsha", "GET", "SET", "wait"}
	if !slices.Equal(commands, want) {
		t.Fatalf("commands: got %q, want %q", commands, want)
	}
	for _, at := range []int{0, 4} {
		if clients[at] != clients[at+3] {
			t.Errorf("got a write over %s and its WAIT over %s, want one connection", clients[at], clients[at+3])
		}
	}
}

// D15: a server that forgot the script is sent its text, and the write is confirmed
// like any other.
func TestForgottenScriptIsConfirmedToo(t *testing.T) {
	t.Parallel()
	master, replica := withReplica(t)
	s := waiting(t, master)
	master.Do("SCRIPT", "FLUSH")
	put(t, s, "k", "v")
	master.Do("SCRIPT", "FLUSH")
	replica.Stop()
	unavailable(t, s.Put(t.Context(), "k", []byte("w"), longLife), "unreplicated")
	replica.Cont()
}

// Replicas that do not follow keep a connection for moments: writes that wait for them would stand in line for it.
func TestReplicasThatDoNotFollowAreNotWaitedForByAll(t *testing.T) {
	t.Parallel()
	master, replica := withReplica(t)
	s := waiting(t, master)
	replica.Stop()
	for range refusals {
		unavailable(t, s.Put(t.Context(), "first", []byte("w"), longLife), "unreplicated")
	}
	said := master.Monitor()
	const writers = 8
	var running sync.WaitGroup
	for i := range writers {
		running.Go(func() {
			unavailable(t, s.Put(t.Context(), fmt.Sprint(i), []byte("v"), longLife), "unreplicated")
		})
	}
	running.Wait()
	short := regexp.MustCompile(`"wait" "1" "37"`)
	if got := len(short.FindAllString(said.String(), -1)); got < writers/2 {
		t.Errorf("got %d of %d writes that waited shortly, want most", got, writers)
	}
	replica.Cont()
	realtest.Eventually(t, "all wait again", func() bool { return s.Put(t.Context(), "first", []byte("x"), longLife) == nil })
}

// Without any replica every write is refused, and reads go on.
func TestNoReplicaAtAll(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	put(t, open(t, server.URL(), storage.Options{}), "k", "v")
	s := open(t, server.URL(), storage.Options{Durability: "replicas:1", Timeout: time.Second}) // WAIT has 600 ms of it, and a busy machine the rest
	unavailable(t, s.Put(t.Context(), "k", []byte("v"), longLife), "unreplicated")
	if !reads(t, s, "k", "v") {
		t.Error("reads ended")
	}
	if err := s.Delete(t.Context(), "k"); err != nil {
		t.Errorf("Delete: got %v; a deletion waits for nobody", err)
	}
}

// A master that answers the write and freezes before it answers WAIT has confirmed
// nothing: that is an outage, not a refusal.
func TestFrozenMasterConfirmsNothing(t *testing.T) {
	t.Parallel()
	master, _ := withReplica(t)
	s := waiting(t, master)
	master.Stop()
	unavailable(t, s.Put(t.Context(), "k", []byte("v"), longLife), "timeout")
	master.Cont()
	realtest.Eventually(t, "confirmed", func() bool {
		return s.Put(t.Context(), "k", []byte("v"), longLife) == nil
	})
}

func TestDurabilityHasToFitTheStore(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		url, durability string
		valid           bool
	}{
		{"memory:", "", true},
		{"memory:", "ack", true},
		{"memory:", "replicas:1", false},
		{"redis://localhost", "ack", true},
		{"redis://localhost", "replicas:1", true},
		{"redis+sentinel://localhost/m", "replicas:32", true},
		{"redis+cluster://localhost", "replicas:2", true},
		{"redis://localhost", "replicas:33", false},
		{"redis://localhost", "replicas:0", false},
		{"redis://localhost", "replicas:-1", false},
		{"redis://localhost", "replicas:+1", false},
		{"redis://localhost", "replicas:01", false},
		{"redis://localhost", "replicas:", false},
		{"redis://localhost", "replicas", false},
		{"redis://localhost", "ACK", false},
		{"redis://localhost", "none", false},
	} {
		s, err := storage.Open(tc.url, storage.Options{Durability: tc.durability})
		if err == nil {
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
		checked := storage.CheckDurability(tc.url, tc.durability)
		if (err == nil) != tc.valid || (checked == nil) != tc.valid {
			t.Errorf("%q on %s: got %v, checked %v, want valid %v", tc.durability, tc.url, err, checked, tc.valid)
		}
	}
}

// What is done in order and no replica has counts as not done: whoever asks for it again finds what stands, and has that confirmed.
func TestUnreplicatedStepsAreNotDone(t *testing.T) {
	t.Parallel()
	master, replica := withReplica(t)
	s := waiting(t, master)
	steps := func() []storage.Step {
		return []storage.Step{storage.Putting("a", []byte("v"), longLife), storage.Making("b", []byte("w"), longLife)}
	}
	if done, _, err := s.InOrder(t.Context(), storage.Putting("c", []byte("v"), longLife), storage.Putting("d", []byte("v"), longLife)); done != 2 || err != nil {
		t.Fatalf("with a replica: did %d, %v", done, err)
	}
	replica.Stop()
	done, _, err := s.InOrder(t.Context(), steps()...)
	if unavailable(t, err, "unreplicated"); done != 0 {
		t.Errorf("without a replica: did %d, want none that counts", done)
	}
	replica.Cont()
	if done, standing, err := s.InOrder(t.Context(), steps()...); done != 1 || string(standing.Value) != "w" || err != nil {
		t.Errorf("again: did %d, %q stands, %v; want what was made", done, standing.Value, err)
	}
}
