package admin

import (
	"log/slog"
	"strings"
	"testing"
)

// A scanner, or a check that only connects, fills no log of warnings; a handler that panics has one.
func TestHandshakesThatFailAreDetails(t *testing.T) {
	var said strings.Builder
	c := complaints{slog.New(slog.NewTextHandler(&said, nil))}
	_, _ = c.Write([]byte("http: TLS handshake error from 192.0.2.1:1: EOF\n"))
	if said.Len() > 0 {
		t.Errorf("got %s", said.String())
	}
	_, _ = c.Write([]byte("http: panic serving 192.0.2.1:1: no\n"))
	if !strings.Contains(said.String(), `level=WARN msg="http: panic serving 192.0.2.1:1: no"`) {
		t.Errorf("got %s", said.String())
	}
}
