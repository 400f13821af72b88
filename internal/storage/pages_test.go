package storage_test

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"berth/internal/storage"
)

// No operation reads more than a page, however long a list is, and whoever moves on in it is told once.
func TestALongListIsReadInPages(t *testing.T) {
	const many = 2*storage.PageMembers + 10
	s := open(t, "memory:", storage.Options{})
	members := make([]storage.Member, many)
	for i := range members {
		members[i] = storage.Member{Name: strconv.Itoa(i), Left: time.Hour + time.Duration(i)*time.Second}
	}
	if err := s.KeepMembers(t.Context(), "l", members...); err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{0, 1, storage.PageMembers, storage.PageMembers + 1, many, many + 1} {
		told, largest := map[string]int{}, 0
		err := storage.EachPage(t.Context(), s, "l", most, func(some []storage.Member) error {
			for _, member := range some {
				told[member.Name]++
			}
			largest = max(largest, len(some))
			return s.KeepMembers(t.Context(), "l", storage.Member{Name: some[0].Name, Left: 9 * time.Hour})
		})
		if err != nil || len(told) != min(most, many) || largest > storage.PageMembers {
			t.Errorf("of at most %d: told are %d, up to %d at once, %v", most, len(told), largest, err)
		}
		for name, times := range told {
			if times != 1 {
				t.Errorf("of at most %d: %s is told %d times", most, name, times)
			}
		}
	}
	failed := errors.New("no more")
	if err := storage.EachPage(t.Context(), s, "l", many, func([]storage.Member) error { return failed }); err != failed {
		t.Errorf("got %v, want the taker's error", err)
	}
}
