package redis

import (
	"fmt"
	"slices"
	"testing"

	"berth/internal/storage/engine"
)

// pageAt is a page of two, from a place on, of members that all have one score.
func pageAt(t *testing.T, standing []string, from string) engine.Page {
	t.Helper()
	last := placeOf(from)
	var members []any
	for _, name := range standing[:min(len(standing), last.equals+2+1)] {
		members = append(members, name, "2000")
	}
	page, err := last.pageOf([]any{"1000", members}, 2)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// Members of one score come by their names: a page that ends among them goes on behind the last one that was told, whether
// that one still stands or not.
func TestPagesEndAmongMembersOfOneScore(t *testing.T) {
	for gone := range 2 {
		standing := []string{"a", "b", "c", "d", "e"}
		var told []string
		for from, pages := "", 0; from != "" || pages == 0; pages++ {
			page := pageAt(t, standing, from)
			for _, m := range page.Members {
				told = append(told, m.Name)
			}
			from = page.Next
			standing = slices.DeleteFunc(standing, func(name string) bool { return gone == 1 && name == told[len(told)-1] })
		}
		if got := fmt.Sprint(told); got != "[a b c d e]" {
			t.Errorf("told are %s", got)
		}
	}
}

// Whoever comes meanwhile in front of the place where a page ends, at its very score, keeps nobody from being told.
func TestPagesGoOnBehindThoseOfOneScoreThatCame(t *testing.T) {
	for came := range 8 {
		standing := []string{"m", "n", "o", "p", "q", "r"}
		var told []string
		for from, pages := "", 0; (from != "" || pages == 0) && pages < 20; pages++ {
			page := pageAt(t, standing, from)
			for _, m := range page.Members {
				told = append(told, m.Name)
			}
			if from = page.Next; pages == 0 {
				for i := range came {
					standing = append(standing, fmt.Sprint(i))
				}
				slices.Sort(standing)
			}
		}
		if got := fmt.Sprint(told); got != "[m n o p q r]" {
			t.Errorf("where %d came: told are %s", came, got)
		}
	}
}

// What is no place is the beginning; a name may be anything.
func TestAPlaceIsReadAsItWasWritten(t *testing.T) {
	for _, p := range []listPlace{{}, {5, 1, "a b  c"}, {1<<52 + 3, 7, ""}} {
		if got := placeOf(p.String()); got != p {
			t.Errorf("%q: got %+v", p, got)
		}
	}
	for _, text := range []string{"", "task", "1", "1 2", "x 2 a", "1 -2 a", "1 y a"} {
		if got := placeOf(text); got != (listPlace{}) {
			t.Errorf("%q: got %+v", text, got)
		}
	}
}

func TestWhatIsNoPageIsRefused(t *testing.T) {
	for _, answer := range [][]any{{}, {"1"}, {1, []any{}}, {"1", []any{"a"}}, {"1", []any{"a", "b"}}, {"1", []any{"a", "1.5"}}} {
		if page, err := (listPlace{}).pageOf(answer, 9); err == nil {
			t.Errorf("%v: got %+v", answer, page)
		}
	}
}
