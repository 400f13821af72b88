//go:build race

package sticky

// byRaceDetector are the allocations that the race detector adds to a creation: its pools forget at random.
const byRaceDetector = 8
