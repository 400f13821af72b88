// Package metrics is what operators see of upgraded tasks: how often what happened, how long rounds took, and what went wrong of late.
//
// It asks nobody for anything. What a round or a creation counts by is held, so that to count costs an addition.
//
//	metrics.go   counts and times
//	round.go     what rounds are traced by
//	troubles.go  calls that lost their holder
package metrics
