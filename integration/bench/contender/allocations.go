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

// Allocations are how many the proxy has made so far. It is false for those that do not tell.
func (r *Running) Allocations() (n float64, told bool, err error) {
	if r.metrics == "" {
		return 0, false, nil
	}
	response, err := r.get("/metrics")
	if err != nil {
		return 0, false, err
	}
	defer response.Body.Close()
	n, err = readAllocations(response.Body)
	return n, true, err
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
