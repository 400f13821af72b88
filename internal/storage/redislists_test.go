package storage_test

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/realtest"
	"berth/internal/storage"
	"berth/internal/storage/redistest"
)

func enlist(t *testing.T, s *storage.Store, list, member string, ttl time.Duration) {
	t.Helper()
	if err := s.AddMember(t.Context(), list, member, ttl, 0); err != nil {
		t.Fatalf("AddMember: %v", err)
	}
}

func members(t *testing.T, s *storage.Store, list string, want ...string) {
	t.Helper()
	if got, err := s.Members(t.Context(), list); err != nil || !slices.Equal(got, want) {
		t.Errorf("members of %q: got %q, %v; want %q", list, got, err, want)
	}
}

// A list is one key, which goes with its last member, and not before.
func TestListExpiresWithItsLastMember(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	for _, tc := range []struct {
		member string
		ttl    time.Duration
		least  time.Duration // that the list has left; 0: it does not expire
	}{
		{"a", time.Hour, time.Hour},
		{"b", 2 * time.Hour, 2 * time.Hour},
		{"c", time.Minute, 2 * time.Hour},
		{"d", 0, 0},
		{"e", time.Hour, 0},
	} {
		enlist(t, s, "l", tc.member, tc.ttl)
		left, err := strconv.Atoi(strings.TrimPrefix(server.Do("PTTL", "berth:l"), ":"))
		if err != nil {
			t.Fatal(err)
		}
		life := time.Duration(left) * time.Millisecond
		if tc.least == 0 && left != -1 || tc.least > 0 && (life > tc.least+time.Millisecond || life < tc.least-time.Minute/2) {
			t.Errorf("with %s: got a list that lives for %v, want %v", tc.member, life, tc.least)
		}
	}
	members(t, s, "l", "c", "a", "e", "b", "d")
}

// What expired is removed by those who come later, little at a time.
func TestListsInRedisDoNotGrow(t *testing.T) {
	const many = 100
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	enlist(t, s, "l", "stays", longLife)
	for i := range many {
		enlist(t, s, "l", fmt.Sprint(i), time.Second/2) // together, or the later ones remove the earlier
	}
	realtest.Eventually(t, "they have expired", func() bool {
		standing, err := s.Members(t.Context(), "l")
		return err == nil && len(standing) == 1
	})
	for i := range many/32 + 1 {
		if err := s.AddMember(t.Context(), "l", fmt.Sprint("later ", i), longLife, i+2); err != nil {
			t.Errorf("AddMember where others have expired: %v", err)
		}
	}
	if got := server.Do("ZCARD", "berth:l"); got != ":5" {
		t.Errorf("kept: got %s members, want 5", got)
	}
}

// A refusal is an answer: it opens no breaker.
func TestFullListsAreNoOutage(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	enlist(t, s, "l", "a", longLife)
	for i := range refusals {
		if err := s.AddMember(t.Context(), "l", fmt.Sprint(i), longLife, 1); !errors.Is(err, storage.ErrFull) {
			t.Fatalf("AddMember: got %v, want ErrFull", err)
		}
	}
	members(t, s, "l", "a")
	if !s.Healthy() {
		t.Error("Healthy: got false")
	}
}

// Lists can be read, and left, where nothing can be written.
func TestFullMemoryRefusesMembersOnly(t *testing.T) {
	server := redistest.Start(t, "--maxmemory-policy", "noeviction")
	s := open(t, server.URL(), storage.Options{})
	enlist(t, s, "l", "a", longLife)
	enlist(t, s, "l", "b", longLife)
	server.Do("SCRIPT", "FLUSH")
	server.Do("CONFIG", "SET", "maxmemory", "1")
	for range refusals {
		unavailable(t, s.AddMember(t.Context(), "l", "c", longLife, 0), "oom")
	}
	members(t, s, "l", "a", "b")
	if err := s.RemoveMember(t.Context(), "l", "a"); err != nil {
		t.Errorf("RemoveMember: %v", err)
	}
	members(t, s, "l", "b")
}

// The answer to an AddMember is lost. Who asks again is a member once, in its first place,
// and is not taken for another where there is no room for one.
func TestLostAnswerOfEnlist(t *testing.T) {
	server := redistest.Start(t)
	var line redistest.Relay
	line.Start(t, server.Addr)
	s := open(t, "redis://"+line.Addr(), storage.Options{})
	enlist(t, s, "other", "a", longLife) // from now on the server knows the script

	line.Mute.Store(true)
	unavailable(t, s.AddMember(t.Context(), "l", "mine", longLife, 1), "timeout")
	line.Mute.Store(false)
	enlist(t, s, "l", "later", longLife)
	if err := s.AddMember(t.Context(), "l", "mine", longLife, 1); err != nil {
		t.Errorf("AddMember again: %v", err)
	}
	members(t, s, "l", "mine", "later")

	line.Mute.Store(true)
	unavailable(t, s.RemoveMember(t.Context(), "l", "mine"), "timeout")
	line.Mute.Store(false)
	if err := s.RemoveMember(t.Context(), "l", "mine"); err != nil {
		t.Errorf("RemoveMember again: %v", err)
	}
	members(t, s, "l", "later")
}

// A key of another kind is neither an empty list nor an outage.
func TestForeignListsAreUnavailable(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.URL(), storage.Options{})
	put(t, s, "k", "v")
	for range refusals {
		unavailable(t, s.AddMember(t.Context(), "k", "a", longLife, 0), "other")
		unavailable(t, s.RemoveMember(t.Context(), "k", "a"), "other")
		_, err := s.Members(t.Context(), "k")
		unavailable(t, err, "other")
	}
	if !reads(t, s, "k", "v") || !s.Healthy() {
		t.Error("a record was taken for an outage")
	}
}

// Members are confirmed by replicas as records are: those that are made, those that are
// found standing, whoever made them, and those that go.
func TestUnreplicatedMembersAreNotAcknowledged(t *testing.T) {
	t.Parallel()
	master, replica := withReplica(t)
	first, second := waiting(t, master), waiting(t, master)
	enlist(t, first, "l", "gone", longLife)
	enlist(t, first, "l", "good", 0)
	before := master.Do("ZSCORE", "berth:l", "good")
	replica.Stop()
	unavailable(t, first.AddMember(t.Context(), "l", "a", longLife, 0), "unreplicated")
	for range 2 {
		unavailable(t, second.AddMember(t.Context(), "l", "a", longLife, 1), "unreplicated")
	}
	if err := second.AddMember(t.Context(), "l", "b", longLife, 1); !errors.Is(err, storage.ErrFull) {
		t.Errorf("AddMember: got %v, want ErrFull", err)
	}
	unavailable(t, second.RemoveMember(t.Context(), "l", "gone"), "unreplicated")
	replica.Cont()
	for _, member := range []string{"a", "good"} {
		enlist(t, second, "l", member, longLife)
		if got := replica.Do("ZSCORE", "berth:l", member); got == "" || strings.HasPrefix(got, "$-1") {
			t.Errorf("%s at the replica: got %q, want its expiry", member, got)
		}
	}
	if after := master.Do("ZSCORE", "berth:l", "good"); after != before {
		t.Errorf("place of what was confirmed: got %s, want %s", after, before)
	}
	members(t, second, "l", "a", "good")
}

// On servers of before 7.2 WAIT answers for others' writes too, so what is written is
// looked at: a member that stands is written again, as a record is.
func TestStandingMembersAreConfirmedToo(t *testing.T) {
	t.Parallel()
	master, _ := withReplica(t)
	s := waiting(t, master)
	enlist(t, s, "l", "a", longLife)
	said := master.Monitor()
	enlist(t, s, "l", "a", longLife)
	realtest.Eventually(t, "the wait is seen", func() bool { return said.Count(`"wait"`) == 1 })
	if said.Count(`"ZADD" "berth:l"`) != 1 {
		t.Errorf("commands: got %s, want the member to be written", said.String())
	}
}
