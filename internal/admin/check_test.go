package admin

import (
	"testing"
)

func fixed(name string, ok bool, detail string) Check {
	return Check{Name: name, Probe: func() (bool, string) { return ok, detail }}
}

func TestReadinessIsThatOfAllChecks(t *testing.T) {
	for _, tt := range []struct {
		name    string
		checks  []Check
		status  int
		brief   string
		verbose string
	}{
		{"no checks", nil, 200, "ok\n", "readyz: ok\n"},
		{"ok", []Check{fixed("store", true, ""), fixed("pool default", true, "")}, 200, "ok\n", "[+]store ok\n[+]pool default ok\nreadyz: ok\n"},
		{"degraded", []Check{fixed("store", true, "breaker open"), fixed("pool", true, "")}, 200, "ok\n", "[+]store degraded: breaker open\n[+]pool ok\nreadyz: ok\n"},
		{"not ready", []Check{fixed("store", false, "refused"), fixed("pool", true, "")}, 503, "not ready\n", "[-]store: refused\n[+]pool ok\nreadyz: not ready\n"},
		{"forged line", []Check{fixed("store", false, "a\n[+]store ok\r\n")}, 503, "not ready\n", "[-]store: a [+]store ok\nreadyz: not ready\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, url := run(t, Options{Checks: func() []Check { return tt.checks }})
			if got := get(t, url+"/readyz"); got.status != tt.status || got.body != tt.brief {
				t.Errorf("got %d %q, want %d %q", got.status, got.body, tt.status, tt.brief)
			}
			if got := get(t, url+"/readyz?verbose"); got.status != tt.status || got.body != tt.verbose {
				t.Errorf("verbose: got %d %q, want %d %q", got.status, got.body, tt.status, tt.verbose)
			}
			if got := get(t, url+"/livez"); got.status != 200 || got.body != "ok\n" {
				t.Errorf("/livez: got %d %q, want 200", got.status, got.body)
			}
		})
	}
}

// A check may hang when berth is in trouble; an orchestrator must learn of the
// drain all the same.
func TestDrainingIsNotReadyAtOnceAndStillAlive(t *testing.T) {
	asked := false
	s, url := run(t, Options{Checks: func() []Check {
		return []Check{{Name: "store", Probe: func() (bool, string) { asked = true; return true, "" }}}
	}})
	s.SetDraining()
	for _, path := range []string{"/readyz", "/readyz?verbose"} {
		if got := get(t, url+path); got.status != 503 || got.body != "draining\n" {
			t.Errorf("%s: got %d %q, want 503 draining", path, got.status, got.body)
		}
	}
	if asked {
		t.Error("a check was asked while draining")
	}
	if got := get(t, url+"/livez"); got.status != 200 {
		t.Errorf("/livez: got %d, want 200", got.status)
	}
}
