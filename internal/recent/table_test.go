package recent

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// held is what a table is to hold, in words that are slow and plain.
type held struct {
	key   int
	moved uint32 // Table.added when it was last added or used
}

// What is found under a key is what was added under it, whatever has the same hash, and was removed or came again.
func TestEachValueIsFoundByItsKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table, model := New[held](), map[int]Slot{}
		hash := func(key int) uint32 { return uint32(key % 7 * 15) } // so that many meet, and run over the end
		find := func(key int) Slot { return table.Find(hash(key), func(h *held) bool { return h.key == key }) }
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			key := rapid.IntRange(0, 40).Draw(t, "key")
			at, known := model[key]
			switch {
			case !known:
				model[key] = table.Add(hash(key))
				if v := table.At(model[key]); *v != (held{}) {
					t.Fatalf("%d has %v of another", key, *v)
				}
				*table.At(model[key]) = held{key: key}
			case rapid.Bool().Draw(t, "removes"):
				table.Remove(at)
				delete(model, key)
			default:
				table.Use(at)
			}
			for key := range 41 {
				if at := find(key); at != model[key] {
					t.Fatalf("%d stands at %d, want %d", key, at, model[key])
				}
			}
			var all []int
			for hashed, v := range table.All() {
				if all = append(all, v.key); hashed != hash(v.key) {
					t.Fatalf("%d has hash %d, want %d", v.key, hashed, hash(v.key))
				}
			}
			slices.Sort(all)
			if len(slices.Compact(all)) != len(model) || table.Len() != len(model) {
				t.Fatalf("got %v, %d in all, want %d", all, table.Len(), len(model))
			}
		}
	})
}

// What is oldest was used no more than an eighth of all additions later than any other.
func TestTheOldestIsAmongThoseUsedLeast(t *testing.T) {
	for _, size := range []int{1, 5, 8, 100, 3 * pageSize} {
		table, random := New[held](), rand.New(rand.NewPCG(1, 2))
		var places []Slot
		for i := range 1_000 + 4*size {
			if table.Len() == size {
				oldest := table.Oldest()
				for _, v := range table.All() {
					if late := int32(table.At(oldest).moved - v.moved); late > int32(size/8) {
						t.Fatalf("of %d: what was used %d additions later than another is forgotten", size, late)
					}
				}
				table.Remove(oldest)
				places = slices.DeleteFunc(places, func(at Slot) bool { return at == oldest })
			}
			places = append(places, table.Add(uint32(i)))
			table.At(places[len(places)-1]).moved = table.added
			for range random.IntN(5) {
				at := places[random.IntN(len(places))]
				table.Use(at)
				table.At(at).moved = table.added
			}
		}
	}
}

// Whoever adds no more than it removes needs no more memory.
func TestPlacesAreUsedAgain(t *testing.T) {
	table := New[held]()
	for i := range 10 * pageSize {
		if table.Len() == 10 {
			table.Remove(table.Oldest())
		}
		table.Add(uint32(i))
	}
	if got := testing.AllocsPerRun(100, func() {
		table.Remove(table.Oldest())
		table.Add(rand.Uint32())
	}); got > 0 || len(table.pages) > 1 || len(table.index) > 32 {
		t.Errorf("got %v allocations, %d pages, %d slots", got, len(table.pages), len(table.index))
	}
}
