package probe_test

import (
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"berth/internal/mcptest"
	"berth/internal/probe"
)

// Certificates are verified, and nothing is sent to who has none that is known.
func TestUnknownAuthorityIsRefused(t *testing.T) {
	h := &counted{h: http.NotFoundHandler()}
	server := httptest.NewUnstartedServer(h)
	server.Config.ErrorLog = log.New(t.Output(), "server: ", 0)
	server.StartTLS()
	defer server.Close()
	o := options()
	o.URL, o.Dial = server.URL, nil
	report := probe.Run(t.Context(), o)
	if report.Verdict != probe.Unknown || !strings.Contains(report.Reason, "certificate") || h.seen.Load() != 0 {
		t.Errorf("got %v (%s) after %d requests, want unknown, the certificate, none", report.Verdict, report.Reason, h.seen.Load())
	}
}

func TestOneInstanceLosesNothing(t *testing.T) {
	for name, s := range map[string]*mcptest.Server{
		"JSON":      {Name: "a"},
		"events":    {Name: "a", SSE: true},
		"stateless": {Name: "a", Stateless: true},
	} {
		t.Run(name, func(t *testing.T) {
			inFakeTime(t, func(t *testing.T) {
				report := probed(t, s)
				if report.Verdict != probe.Clean || report.Reason != "" || report.Left != (probe.Left{}) {
					t.Errorf("got %v (%s), left %+v, want clean and nothing", report.Verdict, report.Reason, report.Left)
				}
				for _, c := range report.Checks {
					if c.Lost+c.Failed+c.Leaked+c.Expired != 0 {
						t.Errorf("got %+v, want nothing lost", c)
					}
				}
				for _, era := range []string{modern, legacy} {
					if got := check(t, report, era, "polls").Asked; got != 30 {
						t.Errorf("%s: %d polls, want 30", era, got)
					}
					if got := check(t, report, era, "cancels").Asked; got != 10 {
						t.Errorf("%s: %d cancels, want 10", era, got)
					}
				}
			})
		})
	}
}

func TestRoundRobinLosesTasksAndSessions(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		balancer, servers := robin(t, nil)
		report := probed(t, balancer)
		if report.Verdict != probe.Lost || len(report.Findings) == 0 || report.Command == "" {
			t.Errorf("got %v, findings %v, command %q, want losses and what to do", report.Verdict, report.Findings, report.Command)
		}
		polls := check(t, report, modern, "polls")
		lost, denied := 0, 0
		for _, c := range report.Checks {
			if c.Name == "polls" || c.Revision == modern && c.Name == "kept connection" {
				lost += c.Lost
			}
		}
		for _, s := range servers {
			denied += s.Denied("tasks/get")
		}
		const uncounted = 5 // looks whether a task that was listened to has ended
		if polls.Lost == 0 || lost > denied || lost < denied-uncounted {
			t.Errorf("got %d polls lost, want about the %d that servers denied", lost, denied)
		}
		if sessions := check(t, report, legacy, "sessions"); sessions.Lost == 0 {
			t.Errorf("got %+v, want broken sessions", sessions)
		}
		if got := len(report.Instances); got != 3 {
			t.Errorf("got instances %v, want all three", report.Instances)
		}
	})
}
