package memory

import (
	"fmt"
	"slices"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/storage/engine"
)

func mustEnlist(t *testing.T, e engine.Engine, list, member string, ttl time.Duration) {
	t.Helper()
	if err := e.AddMember(t.Context(), list, member, ttl, 0); err != nil {
		t.Fatalf("AddMember: %v", err)
	}
}

// Where the clock stands still members are in the order of their arrival all the same.
func TestMemoryMembersStandInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		var want []string
		for i := range 100 {
			want = append(want, fmt.Sprint((i*37)%100))
			mustEnlist(t, m, "l", want[i], time.Hour)
		}
		if got, err := m.Members(t.Context(), "l"); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	})
}

// Lists whose members have expired do not pile up, though nobody asks for them again.
func TestMemoryCollectsMembersThatExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rounds, perRound = 100, 50
		m := New()
		for round := range rounds {
			for i := range perRound {
				mustEnlist(t, m, fmt.Sprint(round, i%9), fmt.Sprint(i), time.Second)
			}
			time.Sleep(time.Second)
		}
		members := 0
		for _, list := range m.lists {
			members += list.ordered.Len()
		}
		if members > 2*perRound || len(m.queue) != members || len(m.lists) > 2*9 {
			t.Errorf("got %d members of %d lists, %d in the queue; want at most %d", members, len(m.lists), len(m.queue), 2*perRound)
		}
	})
}

// A member stands to the last instant of its life, and a place that is free is free at
// once.
func TestMemoryMembersExpireOnTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := New()
		for i := range 10 { // more than one operation collects
			mustEnlist(t, m, "l", fmt.Sprint(i), time.Minute)
		}
		time.Sleep(time.Minute - time.Nanosecond)
		if err := m.AddMember(t.Context(), "l", "late", time.Minute, 10); err != engine.ErrFull {
			t.Errorf("AddMember before the end: got %v, want ErrFull", err)
		}
		time.Sleep(time.Nanosecond)
		mustEnlist(t, m, "l", "0", time.Minute)
		if err := m.AddMember(t.Context(), "l", "late", time.Minute, 2); err != nil {
			t.Errorf("AddMember after the end: got %v", err)
		}
		if got, err := m.Members(t.Context(), "l"); err != nil || !slices.Equal(got, []string{"0", "late"}) {
			t.Errorf("got %q, %v, want 0 and late", got, err)
		}
	})
}

// What one of a list's members costs to come and go is no matter of how many there are.
func BenchmarkMemoryList(b *testing.B) {
	for _, members := range []int{10_000, 1_000_000} {
		b.Run(strconv.Itoa(members), func(b *testing.B) {
			m, ctx := New(), b.Context()
			for i := range members {
				_ = m.AddMember(ctx, "list", strconv.Itoa(i), time.Hour, 0)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_ = m.RemoveMember(ctx, "list", strconv.Itoa(i))
				_ = m.AddMember(ctx, "list", strconv.Itoa(members+i), time.Hour, 2*members)
			}
		})
	}
}

// A list that has ended is the next one that begins, and no other one's.
func TestAListThatHasEndedIsUsedOnce(t *testing.T) {
	m := New()
	holds := func(list string, want ...string) {
		t.Helper()
		if got, err := m.Members(t.Context(), list); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v, want %q", list, got, err, want)
		}
	}
	remove := func(list, member string) {
		t.Helper()
		if err := m.RemoveMember(t.Context(), list, member); err != nil {
			t.Fatal(err)
		}
	}
	mustEnlist(t, m, "a", "x", time.Hour)
	if err := m.KeepMembers(t.Context(), "a", engine.Member{Name: "x", Left: time.Hour}); err != nil { // its only one, anew
		t.Fatal(err)
	}
	mustEnlist(t, m, "b", "y", time.Hour)
	holds("a", "x")
	holds("b", "y")
	remove("a", "x")
	remove("b", "y")
	mustEnlist(t, m, "c", "x", time.Hour)
	mustEnlist(t, m, "d", "y", time.Hour)
	mustEnlist(t, m, "d", "z", time.Hour)
	holds("a")
	holds("b")
	holds("c", "x")
	holds("d", "y", "z")
	for i := range spareMembers + 1 {
		mustEnlist(t, m, "large", strconv.Itoa(i), time.Hour)
	}
	for i := range spareMembers + 1 {
		remove("large", strconv.Itoa(i))
	}
	if m.spare != nil && m.spare.name == "large" {
		t.Error("what was large is kept")
	}
}
