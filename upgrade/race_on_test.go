//go:build race

package upgrade

// underRace says that the race detector takes memory of its own.
const underRace = true
