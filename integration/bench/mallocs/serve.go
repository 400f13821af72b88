// Package mallocs tells what a Go program of the bench has allocated, as berth's metrics do.
package mallocs

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
)

// Serve serves the counter at a Unix socket, until the program ends.
func Serve(socket string) error {
	listener, err := net.Listen("unix", socket)
	if err != nil {
		return err
	}
	return http.Serve(listener, http.HandlerFunc(tell))
}

func tell(w http.ResponseWriter, _ *http.Request) {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	fmt.Fprintf(w, "go_memstats_mallocs_total %d\n", stats.Mallocs)
}
