//go:build e2e

package integration

import (
	"strings"
	"testing"
	"time"
)

// readyz is the answer to /readyz?verbose.
func (b *watched) readyz(t testing.TB) (status int, text string) {
	t.Helper()
	return fetch(t, b.admin+"/readyz?verbose")
}

// awaitReadyz waits until /readyz?verbose says something.
func (b *watched) awaitReadyz(t testing.TB, want string) {
	t.Helper()
	var last string
	if !await(t, healedWithin, func() bool { _, last = b.readyz(t); return strings.Contains(last, want) }) {
		t.Fatalf("/readyz: got %q, want %q in it", last, want)
	}
}

// Lines of /readyz?verbose.
const (
	storeOK   = "[+]store ok"
	storeAway = "[+]store degraded: "
)

// healedWithin bounds how long berth may take to notice a change around it. It
// promises two seconds; the rest is for a machine that does other work.
const healedWithin = 15 * time.Second
