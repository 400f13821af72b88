//go:build !race

package sticky

const byRaceDetector = 0
