//go:build linux

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/profile"
)

var errNoValgrind = errors.New("bench: --instructions needs valgrind; please install it (Debian, as root: apt-get install valgrind)")

// fewConnections are as many as keep a proxy that is so slow from what it does for exchanges that last.
const fewConnections = 2

// countKind counts what instructions each contender executes for a unit of the kind that the options name, the kernel's aside, and what
// its caches would not have of them and of their data, if that is asked.
func (b *bench) countKind() ([]block, error) {
	if _, err := exec.LookPath("valgrind"); err != nil {
		return nil, errNoValgrind
	}
	k, err := b.loop(b.instructions)
	if err != nil {
		return nil, err
	}
	rows := []string{profile.Instructions}
	if b.caches {
		rows = append(rows, profile.Code, profile.Data, profile.Far)
	} else {
		b.connections = min(b.connections, fewConnections)
	}
	var counts []profile.Column
	for _, c := range b.present(k) {
		if c.Product == contender.Direct || c.Watched || c.NetHTTP { // net/http is cut off as too slow then
			continue
		}
		c.Counted, c.Caches = true, b.caches
		n, err := b.countOne(k, c)
		if err != nil {
			return nil, fmt.Errorf("bench: %s: %w", c.Name(), err)
		}
		counts = append(counts, profile.Column{Name: c.Name(), Values: n})
	}
	return countBlocks(k.name, rows, counts), nil
}

func countBlocks(work string, rows []string, counts []profile.Column) []block {
	return []block{{"instructions", profile.CountsTable(work, rows, counts)}}
}

// countOne counts for one contender.
func (b *bench) countOne(k kind, c contender.Contender) (map[string]float64, error) {
	proxy, ops, end, err := b.begin(k, c)
	defer end()
	if err != nil {
		return nil, err
	}
	var result load.Result
	n, dump, err := proxy.Count(func() error {
		result = load.Saturate(ops, 2*b.duration)
		return result.Err
	})
	if err == nil && b.pprof != "" {
		err = os.Rename(dump, b.profileFile(k, c, "callgrind"))
	}
	units := float64(result.Units)
	return map[string]float64{
		profile.Instructions: n.Instructions / units, profile.Code: n.Code / units, profile.Data: n.Data / units, profile.Far: n.Far / units,
	}, err
}
