package deploy

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	core "k8s.io/api/core/v1"
)

// berth is the program of this tree, or the one that BERTH_BINARY names.
var berth = os.Getenv("BERTH_BINARY")

func TestMain(m *testing.M) { os.Exit(runWithBerth(m)) }

func runWithBerth(m *testing.M) int {
	if berth != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "berth-deploy-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	berth = filepath.Join(dir, "berth")
	if out, err := exec.Command("go", "build", "-C", "../..", "-o", berth, ".").CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "building berth: %v\n%s", err, out)
		return 1
	}
	return m.Run()
}

// checkConfig is "berth check", which must find no fault.
func checkConfig(t *testing.T, text string, environment ...string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.toml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	check := exec.CommandContext(t.Context(), berth, "check", path)
	check.Env = append(os.Environ(), environment...)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("berth check: %v\n%s\n%s", err, strings.ReplaceAll(string(out), path, "config.toml"), text)
	}
}

// The configuration that the chart writes is one that berth takes.
func TestBerthTakesTheConfigurationThatIsRendered(t *testing.T) {
	for _, file := range valuesFiles(t) {
		checkConfig(t, find[*core.ConfigMap](t, renderManifests(t, file)).Data["config.toml"])
	}
}
