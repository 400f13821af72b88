//go:build linux

package contender

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
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

// get asks the proxy on its own socket.
func (r *Running) get(path string) (*http.Response, error) {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", r.metrics)
	}
	client := http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}}
	return client.Get("http://localhost" + path)
}

// Ask tells how long the proxy takes to answer an operator, and how many bytes it answers.
func (r *Running) Ask(path string) (took time.Duration, size int64, err error) {
	began := time.Now()
	response, err := r.get(path)
	if err != nil {
		return 0, 0, err
	}
	defer response.Body.Close()
	size, err = io.Copy(io.Discard, response.Body)
	if err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("contender: %s: %s", path, response.Status)
	}
	return time.Since(began), size, err
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
