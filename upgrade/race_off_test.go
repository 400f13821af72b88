//go:build !race

package upgrade

const underRace = false
