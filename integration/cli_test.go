package integration

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"berth/internal/realtest"
)

// outcome is how a command line of berth ended.
type outcome struct {
	code           int
	stdout, stderr string
}

// verbWithin bounds a verb that ends by itself; the demonstration takes seconds.
const verbWithin = time.Minute

// runBerth runs a command line to its end, which must come by itself.
func runBerth(t testing.TB, args ...string) outcome {
	t.Helper()
	skipShort(t)
	ctx, cancel := context.WithTimeout(t.Context(), verbWithin)
	defer cancel()
	command := exec.CommandContext(ctx, berthBinary, args...)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	realtest.Tie(command)
	err := command.Run()
	if ctx.Err() != nil {
		t.Fatalf("berth %q did not end by itself:\n%s", args, &stderr)
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("berth %q: %v", args, err)
	}
	return outcome{code: command.ProcessState.ExitCode(), stdout: stdout.String(), stderr: stderr.String()}
}

// configFile writes a configuration and returns its path.
func configFile(t testing.TB, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "berth.toml")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
