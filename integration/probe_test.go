package integration

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"berth/internal/probe"
)

func TestProbeTellsByItsExitCode(t *testing.T) {
	t.Parallel()
	quick := []string{"--rounds", "3", "--rate", "500", "--tool", "slow_compute", "--args", `{"seconds":600}`}
	fleet := startLocalFleet(t, nil)
	refused := startLocalFleet(t, func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	runs := []struct {
		name string
		args []string
		code int
		want string // of either output
	}{
		{"clean", append(quick, fleet.fleet[0].url()), 0, "nothing lost"},
		{"lost", append(quick, roundRobin(t, fleet.urls())), 1, "sessions break in"},
		{"unauthorized", append(quick, refused.fleet[0].url()), 2, "no verdict: it answers 401"},
		{"nobody there", append(quick, "http://"+freeAddress(t)+"/mcp"), 2, "connection refused"},
		{"no URL", quick, 2, "give one URL"},
		{"two URLs", append(quick, "http://127.0.0.1/", "http://127.0.0.1/"), 2, "give one URL"},
		{"no such flag", []string{"http://127.0.0.1/", "--rouns", "3"}, 2, "berth probe --help"},
		{"no such value", []string{"http://127.0.0.1/", "--rounds", "three"}, 2, "berth probe --help"},
		{"bad header", []string{"http://127.0.0.1/", "--header", "nothing"}, 2, "--header: want 'NAME: VALUE'"},
	}
	for _, r := range runs {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			got := runBerth(t, append([]string{"probe"}, r.args...)...)
			if got.code != r.code || !strings.Contains(got.stdout+got.stderr, r.want) {
				t.Errorf("got exit code %d and\n%s%s\nwant %d and %q", got.code, got.stdout, got.stderr, r.code, r.want)
			}
		})
	}
}

// 0.0.0.0 reaches this machine, and is no loopback address.
func TestProbeSendsNothingOffLoopbackUnasked(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	url := strings.Replace(fleet.fleet[0].url(), "127.0.0.1", "0.0.0.0", 1)
	got := runBerth(t, "probe", url)
	if got.code != 2 || got.stdout != "" || !strings.Contains(got.stderr, "Nothing was sent") || !strings.Contains(got.stderr, "0.0.0.0:") {
		t.Errorf("got %+v, want the address, nothing sent, and exit code 2", got)
	}
	if seen := fleet.servers[0].Calls("server/discover"); seen != 0 {
		t.Errorf("%d requests came, want none", seen)
	}
	if got = runBerth(t, "probe", url, "--yes", "--rounds", "1", "--rate", "500"); got.code != 0 || fleet.servers[0].Calls("server/discover") != 1 {
		t.Errorf("with --yes: got %+v, want it probed", got)
	}
}

func TestInterruptedProbeCleansUp(t *testing.T) {
	t.Parallel()
	fleet := startLocalFleet(t, nil)
	server := fleet.servers[0]
	var report strings.Builder
	command := exec.Command(berthBinary, "probe", fleet.fleet[0].url(), "--json", "--rate", "20", "--tool", "slow_compute", "--args", `{"seconds":600}`)
	command.Stdout = &report
	p := start(t, "probe", command)
	if !await(t, readyWithin, func() bool { return server.Executions() >= 5 }) {
		t.Fatal("no tasks were made")
	}
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	p.awaitExit(t, readyWithin)
	var got probe.Report
	if err := json.Unmarshal([]byte(report.String()), &got); err != nil {
		t.Fatalf("%q: %v", report.String(), err)
	}
	if code := command.ProcessState.ExitCode(); code != 2 || got.Reason != "it was interrupted" || got.Left != (probe.Left{}) {
		t.Errorf("got exit code %d, %q, left %+v, want 2, interrupted, nothing", code, got.Reason, got.Left)
	}
	if made, cancelled := server.Executions(), server.Calls("tasks/cancel"); made != cancelled {
		t.Errorf("%d tasks made, %d cancelled", made, cancelled)
	}
	if opened, ended := server.Calls("initialize"), server.Calls("DELETE"); opened != ended {
		t.Errorf("%d sessions opened, %d ended", opened, ended)
	}
}
