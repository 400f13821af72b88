// Package crowd tells whose places are made room of where there are as many as may be: whoever has most of them gives up those that nobody
// has used for the longest time. So one who takes all that there is keeps nobody else out.
//
// It holds nothing, and ends nothing. Cost: a walk over all places, and a sort of those that nobody uses of one who has them.
package crowd

import (
	"iter"
	"slices"
	"time"
)

// Unused are, of all places, at most so many that nobody uses of the caller who has most, the one first that was used before all others.
// since tells when a place was used last, and is asked of that caller's alone; ok is false while somebody uses it.
func Unused[P comparable](all iter.Seq[P], callerOf func(P) string, since func(P) (used time.Time, ok bool), most int) []P {
	var unused []P
	greedy, last := greediest(all, callerOf), map[P]time.Time{}
	for place := range all {
		if callerOf(place) != greedy {
			continue
		}
		if used, ok := since(place); ok {
			unused, last[place] = append(unused, place), used
		}
	}
	slices.SortFunc(unused, func(a, b P) int { return last[a].Compare(last[b]) })
	return unused[:min(len(unused), most)]
}

// greediest is the caller who has most places.
func greediest[P any](all iter.Seq[P], callerOf func(P) string) (greedy string) {
	has := map[string]int{}
	for place := range all {
		caller := callerOf(place)
		if has[caller]++; has[caller] > has[greedy] {
			greedy = caller
		}
	}
	return greedy
}
