package stdio

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// process is one run of the command, with the group that it leads.
type process struct {
	leader *os.Process
	begun  time.Time
	in     *queue
	said   *stderr
	stdout *os.File
	errors *os.File
	log    *slog.Logger
	timing timing
	grace  time.Duration
	done   chan struct{} // closed when it has ended and what it wrote was read

	reading sync.WaitGroup // of stdout and stderr

	mu     sync.Mutex // guards the fields below, and who may still signal the group
	reaped bool
	ending bool
	cause  string // why berth ends it; "": berth does not
	fault  bool   // the cause is what the process did
	status string // how it ended, once it has
}

// spawn runs the command. receive is told each line of its stdout, one at a time; the last of
// them before done is closed.
func (s *Server) spawn(receive func(p *process, line []byte)) (*process, error) {
	cmd, err := s.options.command()
	if err != nil {
		return nil, err
	}
	var files [6]*os.File // each pipe's end to read, then its end to write
	for i := 0; i < len(files); i += 2 {
		if files[i], files[i+1], err = os.Pipe(); err != nil {
			closeAll(files[:])
			return nil, fmt.Errorf("stdio: making a pipe: %w", err)
		}
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = files[0], files[3], files[5]
	err = s.starter.start(cmd)
	closeAll([]*os.File{files[0], files[3], files[5]})
	if err != nil {
		closeAll([]*os.File{files[1], files[2], files[4]})
		return nil, err
	}
	log := s.options.Logger.With("pid", cmd.Process.Pid)
	p := &process{
		leader: cmd.Process, begun: time.Now(), in: newQueue(files[1], s.timing.stuck), said: &stderr{log: log},
		stdout: files[2], errors: files[4], log: log, timing: s.timing, grace: s.options.Grace, done: make(chan struct{}),
	}
	if err := limitMemory(p.leader.Pid, s.options.MaxMemory); err != nil {
		p.kill("its memory cannot be bounded: " + err.Error())
	}
	p.reading.Go(func() { p.read(s.options.MaxLine, receive) })
	p.reading.Go(func() { p.said.read(p.errors) })
	go p.write()
	go p.wait(cmd)
	return p, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			_ = f.Close()
		}
	}
}

func (p *process) write() {
	if errors.Is(p.in.run(), errQueueFull) {
		p.kill("it did not read what it was sent")
	}
}

func (p *process) read(most int, receive func(p *process, line []byte)) {
	lines := newLineReader(p.stdout, most)
	for {
		line, cut, err := lines.next()
		switch {
		case err != nil:
			return
		case cut:
			p.kill(fmt.Sprintf("a line of its stdout is longer than %d bytes", most))
			return
		}
		receive(p, line)
	}
}

// wait reaps the process, and with it ends what it left behind in its group. What was written
// before is still read; who escaped the group does not hold that up.
func (p *process) wait(cmd *exec.Cmd) {
	state, err := p.reap()
	p.mu.Lock()
	if p.status = "its status is not known"; err == nil {
		p.status = state.String()
	}
	p.mu.Unlock()
	p.in.finish()
	late := time.Now().Add(p.timing.drain)
	_ = p.stdout.SetReadDeadline(late)
	_ = p.errors.SetReadDeadline(late)
	p.reading.Wait()
	closeAll([]*os.File{p.stdout, p.errors, p.in.file}) // the last may be blocked in a write
	_ = cmd.Process.Release()
	close(p.done)
}

// stop ends the process as the specification says (2025-11-25, lifecycle, "Shutdown", stdio): its
// stdin is closed, then its group gets SIGTERM, then SIGKILL. It does not wait for that.
func (p *process) stop(cause string) {
	if p.endsFor(cause, false) {
		p.in.finish()
		go p.insist()
	}
}

func (p *process) insist() {
	for _, step := range []struct {
		after  time.Duration
		signal syscall.Signal
	}{{p.timing.ask, syscall.SIGTERM}, {p.grace, syscall.SIGKILL}} {
		select {
		case <-p.done:
			return
		case <-time.After(step.after):
			p.signal(step.signal)
		}
	}
}

// kill ends the process at once, for something that it did.
func (p *process) kill(cause string) {
	p.endsFor(cause, true)
	p.signal(syscall.SIGKILL)
}

// endsFor notes why the process is ended, and reports whether nobody ended it before.
func (p *process) endsFor(cause string, fault bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ending || p.reaped {
		return false
	}
	p.ending, p.cause, p.fault = true, cause, fault
	return true
}

// signal never reaches a stranger's group: until the leader is reaped, nobody else has its id.
func (p *process) signal(signal syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.reaped {
		signalGroup(p.leader.Pid, signal)
	}
}

// how tells how the process ended, for people to read.
func (p *process) how() string {
	p.mu.Lock()
	how := p.status
	if p.cause != "" {
		how = "ended by berth, " + p.cause
	}
	p.mu.Unlock()
	if tail := p.said.end(); tail != "" {
		how += "; its stderr ends: " + tail
	}
	return how
}

// ownDeath reports whether the process ended by itself, or for what it did.
func (p *process) ownDeath() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause == "" || p.fault
}
