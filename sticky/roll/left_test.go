package roll

import (
	"strconv"
	"testing"
	"time"

	"berth/internal/storage"
	"berth/internal/storage/storagetest"
	"berth/sticky/binding"
)

// Of more than a page each is told once, and those that are counted and not told are those beyond most.
func TestALongRollIsReadInPages(t *testing.T) {
	const many = 2*storage.PageMembers + 7
	store := storagetest.OpenMemory(t)
	list := Key{Kind: binding.Task, Pool: "p", Upstream: "a"}
	members := make([]storage.Member, many)
	for i := range members {
		members[i] = storage.Member{Name: strconv.Itoa(i), Left: time.Hour}
	}
	if err := store.KeepMembers(t.Context(), list.List(), members...); err != nil {
		t.Fatal(err)
	}
	for _, most := range []int{5, storage.PageMembers, storage.PageMembers + 1, many, 10 * many} {
		told := map[string]bool{}
		all, err := NewCensus(store).Each(t.Context(), list, most, func(some []Left) error {
			for _, one := range some {
				if told[one.Name] {
					t.Errorf("of at most %d: %s is told twice", most, one.Name)
				}
				told[one.Name] = true
			}
			return nil
		})
		if err != nil || all != many || len(told) != min(most, many) {
			t.Errorf("of at most %d: told are %d of %d, %v", most, len(told), all, err)
		}
	}
}
