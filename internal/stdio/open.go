package stdio

import (
	"fmt"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/offer"
	"berth/internal/stdio/process"
)

// open starts the process after a pause, in a place as newPeer has it, and initialises it.
func (p *peer) open(pause time.Duration, place <-chan struct{}) {
	defer close(p.ready)
	if place != nil {
		<-place
	}
	select {
	case <-time.After(pause):
	case <-p.quit:
	}
	first := p.start()
	if first == nil {
		return
	}
	go p.watch()
	late := time.NewTimer(p.server.options.StartTimeout)
	defer late.Stop()
	select {
	case answer := <-first.answer:
		p.opened(answer)
	case <-p.process.Done():
		p.failure = failed("the process ended before it answered initialize: "+p.process.Story(), ReasonProcessFailed, mcp.NotExecuted)
	case <-late.C:
		p.lateFor(first)
	}
}

// start runs the command and sends it initialize; nil: it does not run.
func (p *peer) start() *call {
	s := p.server
	s.mu.Lock()
	stopped := p.stopping
	s.mu.Unlock()
	err := process.ErrClosed
	var started *process.Process
	if !stopped {
		started, err = process.Start(s.starter, s.options.process(s.timing), process.Receiver{Line: p.receive, Cut: p.overlong})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil {
		if !stopped {
			s.died(p, err.Error(), true)
			s.options.Logger.Warn("stdio process cannot be started", "error", err)
		}
		p.failure = failed("the process could not be started: "+err.Error(), ReasonProcessFailed, mcp.NotExecuted)
		p.end(p.failure)
		return nil
	}
	started.Log.Info("stdio process started")
	p.process = started
	first := &call{method: mcp.MethodInitialize, answer: make(chan []byte, 1)} // its number is 0, as with SDKs: some servers answer it under no other
	p.calls[first.number] = first
	if p.stopping {
		started.Stop("nobody wants it any more")
	}
	_ = p.dispatch(first, p.opening) // where it fails, the process has ended
	return first
}

// opened takes the answer to initialize.
func (p *peer) opened(answer []byte) {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	if result := mcp.ResultObject(answer); result != nil {
		p.result = result
		if versions := offer.In(result).Versions; len(versions) > 0 {
			p.version = versions[0]
		}
		p.touched = time.Now() // it may have taken longer to start than it may be idle
		p.server.breaker.born(p.trial)
		return
	}
	how := "it answered initialize with neither a result nor an error"
	switch refusal := mcp.ErrorObject(answer); {
	case refusal != nil && !speaksNoLegacy(answer):
		p.refusal = refusal
		p.server.breaker.born(p.trial)
		p.stop("it refused initialize")
		return
	case refusal != nil:
		how = "its server speaks no revision of the legacy era, and berth speaks no other by stdio"
		p.process.Log.Warn("stdio process refuses initialize: " + how)
	}
	p.failure = failed("the process does not start: "+how, ReasonProcessFailed, mcp.NotExecuted)
	p.server.died(p, how, true)
	p.stop("it refused initialize")
}

// speaksNoLegacy reports whether a refusal of initialize is that of a server which speaks the modern era alone.
func speaksNoLegacy(answer []byte) bool {
	versions := mcp.SupportedVersions(answer)
	return len(versions) > 0 && !slices.ContainsFunc(versions, func(version string) bool { return !mcp.IsModern(version) })
}

func (p *peer) lateFor(first *call) {
	s := p.server
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(p.calls, first.number)
	how := fmt.Sprintf("the process did not answer initialize within %v", s.options.StartTimeout)
	if tail := p.process.Tail(); tail != "" {
		how += "; its stderr ends: " + tail
	}
	p.failure = failed(how, ReasonProcessFailed, mcp.NotExecuted)
	s.died(p, how, true)
	p.failCalls(p.failure)
	p.stop("it did not answer initialize in time")
}

// watch waits for the process's end.
func (p *peer) watch() {
	<-p.process.Done()
	s, story, own := p.server, p.process.Story(), p.process.OwnDeath()
	s.mu.Lock()
	defer s.mu.Unlock()
	lived, told := time.Since(p.begun), story
	if s.options.Isolation == IsolateAll { // its stderr may be about another caller
		told = p.process.How()
	}
	failure := failed("the process ended: "+told, ReasonProcessExited, mcp.Unknown)
	if !p.answered {
		failure = failed("the process ended before it answered initialize: "+story, ReasonProcessFailed, mcp.NotExecuted)
	}
	if own && !p.worked && (!p.answered || lived < s.timing.quick) {
		s.died(p, story, !p.answered)
	}
	if own {
		p.process.Log.Warn("stdio process ended by itself", "how", story, "lived", lived.Round(time.Millisecond).String(), "calls", len(p.calls))
	} else {
		p.process.Log.Info("stdio process ended", "how", p.process.How(), "lived", lived.Round(time.Millisecond).String())
	}
	p.end(failure)
}
