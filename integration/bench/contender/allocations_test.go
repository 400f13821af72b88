//go:build linux

package contender

import (
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"testing"
)

// To be asked costs a program thousands of allocations, which would count for those of few requests.
func TestAllocationsForBeingAskedAreNotCounted(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "metrics.sock")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	allocated := 0
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "go_memstats_mallocs_total %d\n", allocated)
		allocated += 5000
	})}
	t.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.Serve(listener) }()
	proxy := &Running{metrics: socket}
	got, told, err := proxy.Allocations(func() error {
		allocated += 7
		return nil
	})
	if got != 7 || !told || err != nil {
		t.Errorf("got %v, %v, %v, want 7", got, told, err)
	}
}
