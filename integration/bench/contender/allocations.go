//go:build linux

package contender

import (
	"bufio"
	"errors"
	"io"
	"strconv"
	"strings"
)

var errNoAllocations = errors.New("contender: its metrics lack the number of allocations")

// allocations is the counter that Go programs serve to Prometheus.
const allocations = "go_memstats_mallocs_total "

// Allocations are how many the proxy makes during f, those for being asked aside, which are thousands. It is false for
// those that do not tell.
func (r *Running) Allocations(f func() error) (n float64, told bool, err error) {
	if r.metrics == "" {
		return 0, false, f()
	}
	first, err := r.allocated()
	if err != nil {
		return 0, true, err
	}
	before, err := r.allocated()
	if err != nil {
		return 0, true, err
	}
	if err := f(); err != nil {
		return 0, true, err
	}
	after, err := r.allocated()
	return (after - before) - (before - first), true, err
}

// allocated are how many it has made so far.
func (r *Running) allocated() (float64, error) {
	response, err := r.get("/metrics")
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return readAllocations(response.Body)
}

func readAllocations(metrics io.Reader) (float64, error) {
	lines := bufio.NewScanner(metrics)
	for lines.Scan() {
		if value, found := strings.CutPrefix(lines.Text(), allocations); found {
			return strconv.ParseFloat(value, 64)
		}
	}
	return 0, errors.Join(errNoAllocations, lines.Err())
}
