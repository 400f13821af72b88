package ledger

import "testing"

// No two ops have one name, whoever makes them.
func TestEachOpHasItsOwnName(t *testing.T) {
	seen := map[string]bool{}
	for range 8 {
		o := newOps()
		for range 1000 {
			name := o.next()
			if seen[name] {
				t.Fatalf("%s comes twice", name)
			}
			seen[name] = true
		}
	}
}
