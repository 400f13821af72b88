package sticky

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// What the cache says of a key is what was last written under that key, whatever was forgotten and came again; and it holds
// as many as it may.
func TestTheCacheSaysWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 40).Draw(t, "most")
		n, written := newNear(most), map[Key]string{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			key := Key{
				Kind: rapid.SampledFrom([]Kind{Task, Claim}).Draw(t, "kind"), Pool: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "pool"),
				Principal: rapid.SampledFrom([]string{"", "a", "ab"}).Draw(t, "principal"), ID: fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "id")),
			}
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0, 1:
				written[key] = rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "upstream")
				n.add(&entry{key: key, binding: Binding{Upstream: written[key], Expires: time.Now().Add(time.Hour)}})
				if b, ok := n.get(key); !ok || b.Upstream != written[key] {
					t.Fatalf("%+v: got %q, %v, want %q, which was just written", key, b.Upstream, ok, written[key])
				}
			case 2:
				if b, ok := n.get(key); ok && b.Upstream != written[key] {
					t.Fatalf("%+v: got %q, want %q or nothing", key, b.Upstream, written[key])
				}
			case 3:
				n.remove(key)
				delete(written, key)
			}
			if held := held(n, written); held != n.cache.Len() || held > most {
				t.Fatalf("%d are held and %d counted of %d written, want %d at most", held, n.cache.Len(), len(written), most)
			}
		}
	})
}

func held(n *near, keys map[Key]string) (held int) {
	for key := range keys {
		if n.look(&key, true, new(Binding)) {
			held++
		}
	}
	return held
}

// What is used is not forgotten while others come that are not.
func TestWhatIsUsedStays(t *testing.T) {
	n := newNear(100)
	add := func(id string) {
		n.add(&entry{key: task(id), binding: Binding{Upstream: "a", Expires: time.Now().Add(time.Hour)}})
	}
	add("used")
	for i := range 1000 {
		add(fmt.Sprint(i))
		if i%10 == 0 && !n.look(new(task("used")), false, new(Binding)) {
			t.Fatalf("it is gone after %d others", i)
		}
	}
	if n.look(new(task("900")), false, new(Binding)) || !n.look(new(task("990")), false, new(Binding)) {
		t.Error("others are not forgotten in the order in which they came")
	}
}
