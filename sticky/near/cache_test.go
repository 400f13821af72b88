package near

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/sticky/binding"

	"pgregory.net/rapid"
)

// What the cache says of a key is what was last written under that key, whatever was forgotten and came again; and it holds
// as many as it may.
func TestTheCacheSaysWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.IntRange(1, 40).Draw(t, "most")
		n, written := New(most), map[binding.Key]string{}
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			key := binding.Key{
				Kind: rapid.SampledFrom([]binding.Kind{binding.Task, binding.Claim}).Draw(t, "kind"), Pool: rapid.SampledFrom([]string{"p", "q"}).Draw(t, "pool"),
				Principal: rapid.SampledFrom([]string{"", "a", "ab"}).Draw(t, "principal"), ID: fmt.Sprint(rapid.IntRange(0, 12).Draw(t, "id")),
			}
			switch rapid.IntRange(0, 3).Draw(t, "do") {
			case 0, 1:
				written[key] = rapid.StringMatching(`[a-z]{1,5}`).Draw(t, "upstream")
				n.Put(&key, &binding.Binding{Upstream: written[key], Expires: time.Now().Add(time.Hour)}, nil)
				if b, ok := n.Get(key); !ok || b.Upstream != written[key] {
					t.Fatalf("%+v: got %q, %v, want %q, which was just written", key, b.Upstream, ok, written[key])
				}
			case 2:
				if b, ok := n.Get(key); ok && b.Upstream != written[key] {
					t.Fatalf("%+v: got %q, want %q or nothing", key, b.Upstream, written[key])
				}
			case 3:
				n.Remove(key)
				delete(written, key)
			}
			if held := held(n, written); held != n.cache.Len() || held > most {
				t.Fatalf("%d are held and %d counted of %d written, want %d at most", held, n.cache.Len(), len(written), most)
			}
		}
	})
}

func held(n *Cache, keys map[binding.Key]string) (held int) {
	for key := range keys {
		if n.Look(&key, true, new(binding.Binding)) {
			held++
		}
	}
	return held
}

// What is used is not forgotten while others come that are not.
func TestWhatIsUsedStays(t *testing.T) {
	n := New(100)
	add := func(id string) {
		n.Put(new(task(id)), &binding.Binding{Upstream: "a", Expires: time.Now().Add(time.Hour)}, nil)
	}
	add("used")
	for i := range 1000 {
		add(fmt.Sprint(i))
		if i%10 == 0 && !n.Look(new(task("used")), false, new(binding.Binding)) {
			t.Fatalf("it is gone after %d others", i)
		}
	}
	if n.Look(new(task("900")), false, new(binding.Binding)) || !n.Look(new(task("990")), false, new(binding.Binding)) {
		t.Error("others are not forgotten in the order in which they came")
	}
}

// What is packed is found under its key, whose parts are not mistaken for one another.
func TestWhatIsPackedIsFound(t *testing.T) {
	for _, key := range []binding.Key{{Kind: binding.Task, Pool: "p", ID: "1"}, {Kind: binding.Task, Pool: "p", Principal: "a", ID: "1"}} {
		n := New(1)
		n.Put(&key, &binding.Binding{Upstream: "a"}, nil)
		if n.find(&key, hashOf(&key)) == 0 {
			t.Errorf("it is not found under %+v", key)
		}
		other := key
		other.Principal, other.ID = "", key.Principal+key.ID
		if key != other && n.find(&other, hashOf(&key)) != 0 {
			t.Errorf("it is found under %+v", other)
		}
	}
}

// Nothing stands under a key whose latest binding is too long to be kept.
func TestWhatIsTooLongIsNotCached(t *testing.T) {
	n := New(10)
	key, b := task("1"), binding.Binding{Upstream: "a", Expires: time.Now().Add(time.Hour)}
	n.Put(&key, &b, nil)
	b.Status = strings.Repeat("x", binding.MostPacked)
	n.Put(&key, &b, nil)
	if b, ok := n.Get(key); ok {
		t.Errorf("got %q", b.Upstream)
	}
}

func task(id string) binding.Key { return binding.Key{Kind: binding.Task, Pool: "p", ID: id} }
