package queues

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// ids are those of a line, in its order.
func idsOf(line []Turn) string {
	var ids []string
	for _, w := range line {
		ids = append(ids, w.ID)
	}
	return strings.Join(ids, " ")
}

const within = 5 * time.Second

func TestOrderOfTurns(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"", ""},
		{"a,b,c", "a b c"},
		{"a A 5,b A 6,c B 5", "a c b"},
		{"a A 7,b B 6,c C 6", "b c a"},
		{"o,a A 5,p,b B 5,q,c A 6", "o a b p c q"},
		{"a A x,b", "a b"},
	} {
		if got := idsOf(inTurn(strings.FieldsFunc(c.names, func(r rune) bool { return r == ',' }))); got != c.want {
			t.Errorf("%q stand as %q, want %q", c.names, got, c.want)
		}
	}
}

// What was given out a moment ago need not show in the line yet.
func TestRoundsAreNotGivenTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := New(nil, within)
		first, second := q.round("line", "one", 7), q.round("line", "one", 7)
		time.Sleep(within)
		third, other := q.round("line", "one", 7), q.round("line", "two", 7)
		time.Sleep(3 * within)
		if late := q.round("line", "one", 7); first != 8 || second != 9 || third != 10 || other != 8 || late != 8 {
			t.Errorf("got %d, %d, %d, %d, %d", first, second, third, other, late)
		}
	})
}
