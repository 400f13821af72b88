//go:build e2e

package integration

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Clients that call over and over on kept connections: one that is closed while its client
// writes breaks that call. So each is told with an answer that its connection closes.
func TestDrainBreaksNoCallOnAKeptConnection(t *testing.T) {
	t.Parallel()
	const clients = 30
	fleet := startLocalFleet(t, nil)
	b := startWatched(t, fleet.fleet)
	told := make(chan error, clients)
	calling := make(chan struct{}, clients)
	for range clients {
		go func() { told <- callUntilTold(b.url(), calling) }()
	}
	for range clients {
		<-calling
	}
	b.signal(t, syscall.SIGTERM)
	for range clients {
		if err := <-told; err != nil {
			t.Error(err)
		}
	}
	b.awaitExit(t, readyWithin)
}

var errNotTold = errors.New("no answer said that the connection closes")

// callUntilTold calls on one kept connection, until an answer says that it closes. It fails
// if its connection is closed before. calling hears of the first answer.
func callUntilTold(url string, calling chan<- struct{}) error {
	transport := new(http.Transport)
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport, Timeout: readyWithin}
	pace := time.NewTicker(20 * time.Millisecond)
	defer pace.Stop()
	for i := range 400 {
		response, err := client.Post(url, "application/json", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		if i == 0 {
			calling <- struct{}{}
		}
		if err != nil {
			return err
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
		if response.Close {
			return nil
		}
		<-pace.C
	}
	return errNotTold
}
