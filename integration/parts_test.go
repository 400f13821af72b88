package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// Where setup/setup.sh puts the parts, from this directory.
const (
	clientsDir  = "parts/clients"
	serversDir  = "parts/servers"
	packagesDir = "parts/node_modules/@modelcontextprotocol"
	builtDir    = ".build"
)

// node is the Node 22 of the lock file: the suite and the Inspector need it, and the
// system's own is often older.
func node(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob("parts/node_modules/node-*/bin/node")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		missing(t, "Node 22 of the npm parts")
	}
	return found[0]
}

// nodeCommand runs a script of a part, or of ours, under that Node.
func nodeCommand(t testing.TB, script string, args ...string) *exec.Cmd {
	t.Helper()
	requireFile(t, script)
	return exec.Command(node(t), append([]string{script}, args...)...)
}

// built is a Go program that setup/go.sh built.
func built(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(builtDir, name)
	requireFile(t, path)
	return path
}

func requireFile(t testing.TB, path string) {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		missing(t, path)
	}
}

// missing skips the test, or fails it where everything must be there.
func missing(t testing.TB, part string) {
	t.Helper()
	const hint = "%s is missing: run integration/setup/setup.sh, which says what it could not install"
	if os.Getenv("CI") == "true" || os.Getenv("BERTH_REQUIRE_PARTS") == "1" {
		t.Fatalf(hint, part)
	}
	t.Skipf(hint, part)
}

// skipShort leaves out what starts real processes, under -short.
func skipShort(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts real processes")
	}
}
