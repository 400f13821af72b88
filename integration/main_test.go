package integration

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"berth/internal/h1/h1test"
)

var update = flag.Bool("update", false, "write the golden verdicts anew, from runs without berth")

// berthBinary is the program under test. TestMain sets it before any test runs.
var berthBinary string

func TestMain(m *testing.M) {
	serveInstance()
	flag.Parse()
	os.Exit(runWithBerth(m))
}

func runWithBerth(m *testing.M) int {
	berthBinary = os.Getenv("BERTH_BINARY")
	if testing.Short() {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "berth-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	if err := provideBerth(dir); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// provideBerth has berthBinary be a program that serves as the environment says, with what it takes in dir.
func provideBerth(dir string) error {
	if berthBinary == "" {
		berthBinary = filepath.Join(dir, "berth")
		if err := buildBerth(berthBinary); err != nil {
			return err
		}
	}
	if !h1test.ByNetHTTP() {
		return nil
	}
	program := berthBinary
	berthBinary = filepath.Join(dir, "berth-by-nethttp")
	return writeByNetHTTP(berthBinary, program)
}

// writeByNetHTTP writes a program that is berth but for what carries HTTP/1.1. It becomes berth's own process, so that its
// id, its descriptors and how it ends are berth's.
func writeByNetHTTP(path, program string) error {
	const script = `#!/bin/sh
if [ "$1" = serve ]; then
	shift
	set -- serve --http1 net/http "$@"
fi
exec '%s' "$@"
`
	return os.WriteFile(path, fmt.Appendf(nil, script, program), 0o755)
}

// buildBerth builds the program as these tests were built: under the race detector
// if they are, so that races between real processes' requests are seen as well.
func buildBerth(path string) error {
	args := []string{"build", "-o", path}
	if raceEnabled {
		args = append(args, "-race")
	}
	build := exec.Command("go", append(args, "berth")...)
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building berth: %w\n%s", err, output)
	}
	return nil
}
