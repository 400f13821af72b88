//go:build e2e

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	units = "../deploy/systemd"

	// mostExposure is ten times what systemd-analyze calls the exposure level: from 0, nothing may be done, to 10.
	mostExposure = "15"
)

// unitsWith copies berth's units as they are installed, with one drop-in, and has them start the program
// under test: verify looks whether it is there. Returned is the path of the service.
func unitsWith(t *testing.T, dropIn string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"berth.service", "berth.socket", "berth-admin.socket"} {
		text, err := os.ReadFile(filepath.Join(units, name))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), strings.ReplaceAll(string(text), "/usr/local/bin/berth", berthBinary))
	}
	if dropIn != "" {
		text, err := os.ReadFile(dropIn)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(filepath.Join(dir, "berth.service.d"), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, "berth.service.d", filepath.Base(dropIn)), string(text))
	}
	return filepath.Join(dir, "berth.service")
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// systemd takes the units for what they say, without a warning, and finds that berth may do little, whichever
// drop-in is in use.
func TestUnitsAreSoundAndExposeLittle(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		missing(t, "systemd-analyze")
	}
	dropIns, err := filepath.Glob(filepath.Join(units, "drop-ins", "*.conf"))
	if err != nil || len(dropIns) == 0 {
		t.Fatalf("no drop-ins: %v", err)
	}
	for _, dropIn := range append(dropIns, "") {
		t.Run(filepath.Base(dropIn), func(t *testing.T) {
			service := unitsWith(t, dropIn)
			dir := filepath.Dir(service)
			if said := analyze(t, "verify", "--man=no", service, filepath.Join(dir, "berth.socket"), filepath.Join(dir, "berth-admin.socket")); said != "" {
				t.Errorf("verify: %s", said)
			}
			said := analyze(t, "security", "--offline=true", "--no-pager", "--threshold="+mostExposure, service)
			lines := strings.Split(strings.TrimSpace(said), "\n")
			t.Log(lines[len(lines)-1])
		})
	}
}

func analyze(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "systemd-analyze", args...).CombinedOutput()
	if err != nil {
		t.Errorf("systemd-analyze %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}
