package goals

import (
	"slices"

	"berth/integration/bench/report"
)

// A measure is what a goal bounds: the values of each round, made of the rows of its contenders. Those that compare take
// two, and each round's values by themselves.
type measure struct {
	What   string // in words, with the unit or whom it is a multiple of
	values func(rows []report.Row) []float64
	format string // of a value
}

// Formats of values.
const (
	times  = "%.2f"
	number = "%.1f"
)

func ratio(what string, m report.Metric) measure {
	return measure{what, func(rows []report.Row) []float64 { return rows[0].Ratios(m, rows[1]) }, times}
}

func plain(what string, m report.Metric) measure {
	return measure{what, func(rows []report.Row) []float64 { return rows[0].Values(m) }, number}
}

func above(what string, m report.Metric) measure {
	return measure{what, func(rows []report.Row) []float64 {
		return rows[0].Compare(rows[1], func(own, others report.Sample) (float64, bool) {
			value, ok := own[m]
			other, there := others[m]
			return value - other, ok && there
		})
	}, number}
}

// carried is how many times as much the first carries as the second: by what a request costs the proxy itself, and by
// how long cores have waited. What the load costs does not count.
func carried(rows []report.Row) []float64 {
	return rows[0].Compare(rows[1], func(two, one report.Sample) (float64, bool) {
		cores := 2 * two[report.Filled] / one[report.Filled]
		return cores * one[report.CPU] / two[report.CPU], one[report.Filled] > 0 && two[report.CPU] > 0
	})
}

// misrouted is the greatest part of the polls, in percent, that any berth has sent to where the task was not.
func misrouted(rows []report.Row) []float64 {
	var parts []float64
	for _, r := range rows {
		if r.Product == berth {
			parts = append(parts, r.Values(report.Misrouted)...)
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return []float64{100 * slices.Max(parts)}
}
