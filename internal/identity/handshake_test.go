package identity_test

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"berth/internal/identity"
)

// An issuer that takes connections and does not go on with TLS keeps none of them.
func TestConnectionToASilentIssuerIsGivenUp(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f := identity.NewKeyFetcher(identity.FetcherOptions{URL: "https://" + l.Addr().String() + "/jwks"})
	defer f.Close()
	go func() { _, _ = f.Usable(t.Context(), nil) }()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, err := io.Copy(io.Discard, conn); errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error("it stands still")
	}
}
