package report

import (
	"math"
	"slices"
	"time"
)

// Median is the middle of values, false if there is none.
func Median(values []float64) (float64, bool) {
	if len(values) == 0 {
		return 0, false
	}
	sorted := slices.Sorted(slices.Values(values))
	middle := len(sorted) / 2
	if len(sorted)%2 == 0 {
		return (sorted[middle-1] + sorted[middle]) / 2, true
	}
	return sorted[middle], true
}

// Quantile is the smallest of the ascending values that at least the part q of them do not exceed; 0 if there is none.
func Quantile(ascending []time.Duration, q float64) time.Duration {
	if len(ascending) == 0 {
		return 0
	}
	rank := int(math.Ceil(q * float64(len(ascending))))
	return ascending[max(0, rank-1)]
}
