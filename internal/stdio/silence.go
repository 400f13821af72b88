package stdio

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
)

// keepWatching looks, while calls are in flight or a process is silent, for processes that have stopped to speak.
func (s *Server) keepWatching() {
	if s.watching == nil {
		s.watching = time.AfterFunc(s.timing.quiet/4, s.watch)
	}
}

func (s *Server) watch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watching = nil
	now, again := time.Now(), false
	for p := range s.peers {
		again = p.watchOver(now) || again
	}
	if again && !s.closing {
		s.keepWatching()
	}
}

// watchOver asks a process for a sign of life that has said nothing for a while though it has calls in flight; one that gives none is
// silent until it says something. It reports whether there is more to wait for.
func (p *peer) watchOver(now time.Time) (again bool) {
	heard, waits := p.begun.Add(time.Duration(p.heard.Load())), p.calls.waitSince()
	switch {
	case p.stopping || !p.isReady():
	case p.sign == nil && waits.IsZero():
		return false
	case p.sign == nil && now.Sub(waits) >= p.server.timing.quiet && now.Sub(heard) >= p.server.timing.quiet:
		p.askForSign(now)
	case p.sign != nil && heard.After(p.sign.begun):
		p.spoke()
	case p.sign != nil && !p.silent && now.Sub(p.sign.begun) >= p.server.timing.sign:
		p.silent = true
		p.process.Log.Warn("stdio process does not answer: it is given no new session while another process can be started", "calls", len(p.calls))
	}
	return true
}

// askForSign sends the process a ping, whose answer or any other word is a sign of life.
func (p *peer) askForSign(now time.Time) {
	sign := &call{method: mcp.MethodPing, begun: now, answer: make(chan []byte, 1)} // nobody waits for the answer
	if p.register(sign) == nil {
		p.sign = sign
		_ = p.dispatch(sign, []byte(`{"jsonrpc":"2.0","id":0,"method":"`+mcp.MethodPing+`"}`))
	}
}

// spoke notes that the process has said something since it was asked for a sign of life.
func (p *peer) spoke() {
	p.forget(p.sign)
	if p.sign = nil; p.silent {
		p.silent = false
		p.process.Log.Info("stdio process answers again")
	}
}

// Silence says which processes do not answer; "": none is known not to.
func (s *Server) Silence() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var pids []string
	for p := range s.peers {
		if p.silent {
			pids = append(pids, fmt.Sprint(p.process.Pid()))
		}
	}
	if len(pids) == 0 {
		return ""
	}
	slices.Sort(pids)
	return fmt.Sprintf("stdio: %d of %d processes do not answer: pid %s", len(pids), len(s.peers), strings.Join(pids, ", "))
}
