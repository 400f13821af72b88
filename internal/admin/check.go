package admin

import (
	"fmt"
	"net/http"
	"strings"
)

// Check is one condition of readiness.
type Check struct {
	Name string // stands in /readyz?verbose
	// Probe is asked at each request to /readyz, possibly by several at once, and must answer from
	// what is known already. The detail must hold no secrets. With ok, a detail means degraded:
	// something is wrong, and berth goes on serving.
	Probe func() (ok bool, detail string)
}

// ready answers /readyz: 503 while berth drains, whatever the checks say; else 200 if every check
// is ok. With ?verbose each has a line.
func (s *Server) ready(w http.ResponseWriter, r *http.Request) {
	s.tellReady(w, r.URL.Query().Has("verbose"))
}

// readyAtAll is ready without the checks' lines, whoever asks for them.
func (s *Server) readyAtAll(w http.ResponseWriter, _ *http.Request) { s.tellReady(w, false) }

func (s *Server) tellReady(w http.ResponseWriter, verbose bool) {
	if s.draining.Load() {
		writeText(w, http.StatusServiceUnavailable, "draining")
		return
	}
	ready, lines := s.judge()
	status, verdict := http.StatusOK, "ok"
	if !ready {
		status, verdict = http.StatusServiceUnavailable, "not ready"
	}
	if verbose {
		verdict = lines + "readyz: " + verdict
	}
	writeText(w, status, verdict)
}

func (s *Server) judge() (ready bool, lines string) {
	ready = true
	var b strings.Builder
	for _, check := range s.checks() {
		ok, detail := check.Probe()
		ready = ready && ok
		switch {
		case !ok:
			fmt.Fprintf(&b, "[-]%s: %s\n", check.Name, oneLine(detail))
		case detail != "":
			fmt.Fprintf(&b, "[+]%s degraded: %s\n", check.Name, oneLine(detail))
		default:
			fmt.Fprintf(&b, "[+]%s ok\n", check.Name)
		}
	}
	return ready, b.String()
}

// oneLine keeps a detail from posing as the next check's line.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
