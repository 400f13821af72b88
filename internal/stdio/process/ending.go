package process

import (
	"syscall"
	"time"
)

// Stop ends the process as the specification says (2025-11-25, lifecycle, "Shutdown", stdio): its
// stdin is closed, then its group gets SIGTERM, then SIGKILL. It does not wait for that.
func (p *Process) Stop(cause string) {
	if p.endsFor(cause, false) {
		p.in.finish()
		go p.insist()
	}
}

func (p *Process) insist() {
	for _, step := range []struct {
		after  time.Duration
		signal syscall.Signal
	}{{p.ask, syscall.SIGTERM}, {p.grace, syscall.SIGKILL}} {
		select {
		case <-p.done:
			return
		case <-time.After(step.after):
			p.signal(step.signal)
		}
	}
}

// Kill ends the process at once, for something that it did.
func (p *Process) Kill(cause string) {
	p.endsFor(cause, true)
	p.signal(syscall.SIGKILL)
}

// endsFor notes why the process is ended, and reports whether nobody ended it before.
func (p *Process) endsFor(cause string, fault bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending || p.reaped {
		return false
	}
	p.ending, p.cause, p.fault = true, cause, fault
	return true
}

// signal never reaches a stranger's group: until the leader is reaped, nobody else has its id.
func (p *Process) signal(signal syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		signalGroup(p.leader.Pid, signal)
	}
}

// How tells how the process ended, for people to read.
func (p *Process) How() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause != "" {
		return "ended by berth, " + p.cause
	}
	return p.status
}

// Story is How, and the end of what the process said.
func (p *Process) Story() string {
	how := p.How()
	if tail := p.Tail(); tail != "" {
		how += "; its stderr ends: " + tail
	}
	return how
}

// OwnDeath reports whether the process ended by itself, or for what it did.
func (p *Process) OwnDeath() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause == "" || p.fault
}

// Tail returns the end of what the process said on its stderr, "" if it said nothing.
func (p *Process) Tail() string { return p.said.end() }
