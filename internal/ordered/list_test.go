package ordered

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// element compares by its key alone, so that equal ones can be told apart.
type element struct{ key, number int }

func byKey(a, b element) int { return cmp.Compare(a.key, b.key) }

// plain is the same list, done slowly.
type plain []element

func (p *plain) insert(e element) {
	at := 0
	for at < len(*p) && byKey((*p)[at], e) <= 0 {
		at++
	}
	*p = slices.Insert(*p, at, e)
}

func (p *plain) remove(e element) bool {
	at := slices.IndexFunc(*p, func(x element) bool { return byKey(x, e) == 0 })
	if at >= 0 {
		*p = slices.Delete(*p, at, at+1)
	}
	return at >= 0
}

func all(l *List[element]) (elements []element) {
	for place, e := range l.From(0) {
		if place != len(elements) {
			panic("places are left out")
		}
		elements = append(elements, e)
	}
	return elements
}

// A list is what a slice would be that is sorted after each change.
func TestListIsInOrder(t *testing.T) {
	for name, keys := range map[string]int{"few keys": 7, "many keys": 100_000} {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, uint64(keys)))
			l, want := New(byKey), plain{}
			for step := range 6000 {
				e := element{random.IntN(keys), step}
				if grows := step < 3000; random.IntN(4) > 0 == grows {
					l.Insert(e)
					want.insert(e)
				} else if len(want) > 0 {
					if random.IntN(2) == 0 {
						e = want[random.IntN(len(want))]
					}
					if got, want := l.Remove(e), want.remove(e); got != want {
						t.Fatalf("removed: %v, want %v", got, want)
					}
				}
				if got, before := l.Place(e), slices.IndexFunc(want, func(x element) bool { return byKey(x, e) >= 0 }); before >= 0 && got != before || before < 0 && got != len(want) {
					t.Fatalf("place %d, want %d of %d", got, before, len(want))
				}
				if l.Len() != len(want) {
					t.Fatalf("%d elements, want %d", l.Len(), len(want))
				}
				if step%500 == 0 && !slices.Equal(all(l), want) {
					t.Fatalf("the list is not what it should be after %d steps", step)
				}
				if n := l.Len(); n > 0 && l.At(n-1) != want[n-1] {
					t.Fatalf("the last is %v, want %v", l.At(n-1), want[n-1])
				}
			}
			if !slices.Equal(all(l), want) {
				t.Fatal("the list is not what it should be")
			}
		})
	}
}

func TestListOfWhatIsInOrder(t *testing.T) {
	var sorted []element
	for i := range 3000 {
		sorted = append(sorted, element{i, i})
	}
	l := Of(byKey, slices.Clone(sorted))
	if !slices.Equal(all(l), sorted) || l.Len() != 3000 {
		t.Fatal("it is another list")
	}
	var from []element
	for place, e := range l.From(2990) {
		if from = append(from, e); place != e.key {
			t.Errorf("place %d, want %d", place, e.key)
		}
	}
	if len(from) != 10 {
		t.Errorf("%d from the 2990th on, want 10", len(from))
	}
	for i := range 100 { // what stands in one block must not write over the next
		l.Insert(element{i * 29, -i})
	}
	if !slices.IsSortedFunc(all(l), byKey) || l.Len() != 3100 {
		t.Error("it is out of order")
	}
}

// A change moves a block at most, however long the list is, and its blocks stay few.
func TestListMovesABlockAtMost(t *testing.T) {
	l := New(byKey)
	for i := range 200_000 {
		l.Insert(element{i, i})
	}
	if n := len(l.blocks); n > 200_000/most+2 {
		t.Errorf("%d blocks of a list that grew at its end, want them full", n)
	}
	compared := 0
	l.compare = func(a, b element) int {
		compared++
		return byKey(a, b)
	}
	l.Insert(element{1000, -1})
	l.Remove(element{1000, -1})
	l.Place(element{150_000, 0})
	if compared > 60 {
		t.Errorf("%d comparisons for three operations", compared)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for _, i := range random.Perm(200_000)[:199_000] {
		l.Remove(element{i, i})
	}
	for _, block := range l.blocks {
		if len(block) > most || cap(block) > 2*most {
			t.Fatalf("a block of %d", len(block))
		}
	}
	if len(l.blocks) > 2*l.Len()/(most/2)+50 {
		t.Errorf("%d blocks for %d elements", len(l.blocks), l.Len())
	}
}

func BenchmarkListOfAMillion(b *testing.B) {
	l := New(byKey)
	for i := range 1_000_000 {
		l.Insert(element{i, i})
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e := element{i * 7919 % 1_000_000, 0}
		l.Remove(e)
		l.Insert(e)
	}
}
