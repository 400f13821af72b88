package goals

import (
	"fmt"
	"slices"

	"berth/integration/bench/report"
)

// A Goal bounds one value that is measured.
type Goal struct {
	measure

	Kind  string  // of work that it is measured in; "": in all
	Work  string  // what is done, in words; "": Kind says it
	Bound float64 // the most that the value may be
	Least bool    // the bound is the least that it may be

	// Contenders are those whose rows the value is made of, by name, in the measure's order; of no kind all rows.
	Contenders []string
}

// Verdict is what a run has shown of a goal.
type Verdict struct {
	Goal
	Values []float64 // of each round; empty: all have failed
}

// Judge is what rows show of each goal whose contenders were all to be measured; of a goal of no kind, where any has
// shown something.
func Judge(rows []report.Row) (verdicts []Verdict) {
	for _, g := range All() {
		of, ok := g.rows(rows)
		if !ok {
			continue
		}
		if values := g.values(of); len(values) > 0 || g.Kind != "" {
			verdicts = append(verdicts, Verdict{Goal: g, Values: values})
		}
	}
	return verdicts
}

// rows are those that g is about, in the order of its contenders; false if one is missing.
func (g Goal) rows(all []report.Row) (of []report.Row, ok bool) {
	if g.Kind == "" {
		return all, len(all) > 0
	}
	for _, name := range g.Contenders {
		i := slices.IndexFunc(all, func(r report.Row) bool { return r.Kind == g.Kind && r.Contender == name })
		if i < 0 {
			return nil, false
		}
		of = append(of, all[i])
	}
	return of, true
}

// Met reports whether the median is within the bound.
func (v Verdict) Met() bool {
	median, ok := report.Median(v.Values)
	if v.Least {
		return ok && median >= v.Bound
	}
	return ok && median <= v.Bound
}

// measured is the median, with the least and the greatest value.
func (v Verdict) measured() string {
	median, ok := report.Median(v.Values)
	if !ok {
		return "–"
	}
	say := func(value float64) string { return fmt.Sprintf(v.format, value) }
	low, high := say(slices.Min(v.Values)), say(slices.Max(v.Values))
	if low == high {
		return say(median)
	}
	return fmt.Sprintf("%s (%s to %s)", say(median), low, high)
}

func (g Goal) bound() string {
	sign := "≤"
	if g.Least {
		sign = "≥"
	}
	return sign + " " + fmt.Sprintf(g.format, g.Bound)
}

func (g Goal) work() string {
	if g.Work == "" {
		return g.Kind
	}
	return g.Work
}
