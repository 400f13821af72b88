//go:build linux

package contender

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"time"
)

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

// Profile writes what the proxy does in the next seconds, a profile of its CPU time, to a file.
func (r *Running) Profile(path string, seconds int) error {
	response, err := r.get(fmt.Sprintf("/debug/pprof/profile?seconds=%d", seconds))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("contender: a profile: %s", response.Status)
	}
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	_, err = io.Copy(file, response.Body)
	return errors.Join(err, file.Close())
}
