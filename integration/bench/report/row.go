package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Sample is what one round has measured of a contender, by metric. What does not apply is left out.
type Sample map[Metric]float64

// Metric names a value of a sample, and is its name in JSON.
type Metric string

// What is measured. A unit is a request, unless the kind says otherwise.
const (
	CPU       Metric = "cpu_us"       // CPU time of the proxy's processes a unit, saturated, in µs
	PerSecond Metric = "per_second"   // units a second, saturated
	Busy      Metric = "busy"         // part of its core that the proxy took meanwhile; below 1 something else was the limit
	P50       Metric = "p50_us"       // latency, saturated, in µs
	P99       Metric = "p99_us"       // the same
	PacedCPU  Metric = "paced_cpu_us" // CPU time a unit at the fixed rate, in µs
	PacedP50  Metric = "paced_p50_us" // latency at the fixed rate, from when the request was due, in µs
	PacedP99  Metric = "paced_p99_us" // the same
	Allocs    Metric = "allocs"       // allocations on the heap a unit, of programs that tell
	Resident  Metric = "resident_mib" // memory of the proxy's processes afterwards, in MiB
	Each      Metric = "each_kib"     // memory that each open stream, or held call, has added, in KiB
	Idle      Metric = "idle_us"      // CPU time that an open stream takes in a second without an event, in µs
	Filled    Metric = "filled"       // part of its cores' time that a proxy and the load that shares them took together
	Misrouted Metric = "misrouted"    // part of the polls that reached an instance without the task
)

// String is all metrics with their values, by name.
func (s Sample) String() string {
	var all []string
	for _, m := range slices.Sorted(maps.Keys(s)) {
		all = append(all, fmt.Sprintf("%s %.4g", m, s[m]))
	}
	return strings.Join(all, ", ")
}

// A Row is one contender at one kind of work.
type Row struct {
	Kind      string `json:"kind"`
	Unit      string `json:"unit"`
	Contender string `json:"contender"`
	Product   string `json:"product"` // what it counts as where others are compared with it
	Quiet     bool   `json:"quiet"`   // it wrote no access log

	// Rounds are its samples; nil where a round failed.
	Rounds []Sample `json:"rounds"`
}

// Values are those of a metric, of the rounds that have it.
func (r Row) Values(m Metric) (values []float64) {
	for _, sample := range r.Rounds {
		if value, ok := sample[m]; ok {
			values = append(values, value)
		}
	}
	return values
}

// Median is the median of a metric over the rounds, false if none has it.
func (r Row) Median(m Metric) (float64, bool) { return Median(r.Values(m)) }

// Compare is what f makes of the samples of r and other, of each round that has measured both.
func (r Row) Compare(other Row, f func(own, others Sample) (float64, bool)) (values []float64) {
	for i := range min(len(r.Rounds), len(other.Rounds)) {
		if r.Rounds[i] == nil || other.Rounds[i] == nil {
			continue
		}
		if value, ok := f(r.Rounds[i], other.Rounds[i]); ok {
			values = append(values, value)
		}
	}
	return values
}

// Ratios are a metric of r by that of the other, of each round that has both.
func (r Row) Ratios(m Metric, other Row) []float64 {
	return r.Compare(other, func(own, others Sample) (float64, bool) {
		value, ok := own[m]
		return value / others[m], ok && others[m] > 0
	})
}

// Ratio is the median over the rounds of a metric of r by that of the other.
func (r Row) Ratio(m Metric, other Row) (float64, bool) { return Median(r.Ratios(m, other)) }

// beside finds the row of product in the same kind; of several the one that logs as r does.
func (r Row) beside(rows []Row, product string) (found Row, ok bool) {
	for _, row := range rows {
		if row.Kind == r.Kind && row.Product == product && (!ok || row.Quiet == r.Quiet) {
			found, ok = row, true
		}
	}
	return found, ok
}
