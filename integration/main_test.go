package integration

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
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
	if berthBinary != "" || testing.Short() {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "berth-integration-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	berthBinary = filepath.Join(dir, "berth")
	if err := buildBerth(berthBinary); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
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
