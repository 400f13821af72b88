package binding

import (
	"slices"
	"testing"
)

// What a binding tells of where its session was is bounded; the first place has no alias, as a rule.
func TestWhereASessionWasIsBounded(t *testing.T) {
	var places []Location
	for range maxFormers + 1 {
		var b Binding
		b.SetFormers(places)
		if got := b.Formers(); !slices.Equal(got, places[:min(len(places), maxFormers)]) {
			t.Errorf("%v: got %v", places, got)
		}
		places = append([]Location{{Upstream: "up"}}, places...)
		for i := range places[:len(places)-1] {
			places[i].Alias = "alias"
		}
	}
	short := Binding{Former: "a b", FormerAlias: "of-a"}
	if got := short.Formers(); !slices.Equal(got, []Location{{"a", "of-a"}}) {
		t.Errorf("of what is damaged: %v", got)
	}
}
