package process

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"syscall"
	"time"
)

// Process is one run of the command, with the group that it leads. Start makes one.
type Process struct {
	Log *slog.Logger // with its pid

	leader *os.Process
	in     *queue
	said   *stderr
	stdout *os.File
	errors *os.File
	ask    time.Duration // as in Options
	drain  time.Duration
	grace  time.Duration
	exited chan struct{} // closed when the leader has ended
	done   chan struct{} // closed when what it wrote was read, too

	reading sync.WaitGroup // of stdout and stderr

	mu     sync.Mutex // guards the fields below, and who may still signal the group
	reaped bool
	ending bool
	cause  string // why berth ends it; "": berth does not
	fault  bool   // the cause is what the process did
	status string // how it ended, once it has
}

// Receiver is told what a process writes to stdout: a line at a time, and the last one before Process.Done is closed.
type Receiver struct {
	Line func(p *Process, line []byte)
	// Cut is told the beginning and the end of one that is longer than Options.MaxLine, and returns whether the process may go on.
	Cut func(p *Process, head, end []byte) bool
}

// Start runs the command, from the starter's thread. Its error says that nothing runs.
func Start(by *Starter, o Options, to Receiver) (*Process, error) {
	cmd, err := o.command()
	if err != nil {
		return nil, err
	}
	theirs, ours, err := pipes()
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs[0], theirs[1], theirs[2]
	err = by.start(cmd)
	closeAll(theirs)
	if err != nil {
		closeAll(ours)
		return nil, err
	}
	log := o.Logger.With("pid", cmd.Process.Pid)
	p := &Process{
		Log: log, leader: cmd.Process, in: newQueue(ours[0], o.Stuck), stdout: ours[1], errors: ours[2], said: &stderr{log: log},
		ask: o.Ask, drain: o.Drain, grace: o.Grace, exited: make(chan struct{}), done: make(chan struct{}),
	}
	if err := limitMemory(p.leader.Pid, o.MaxMemory); err != nil {
		p.Kill("its memory cannot be bounded: " + err.Error())
	}
	p.reading.Go(func() { p.read(o.MaxLine, to) })
	p.reading.Go(func() { p.said.read(p.errors) })
	go p.write()
	go p.watch()
	go p.wait()
	return p, nil
}

// Pid is the operating system's id of the process, and of its group.
func (p *Process) Pid() int { return p.leader.Pid }

// Done is closed when the process has ended, and all that it wrote has been received.
func (p *Process) Done() <-chan struct{} { return p.done }

// Push sends the process a message, which must be one line, and waits for nothing. by says whose it is: of these at most so many bytes
// may wait for the process to read them, and of all MaxQueued. ErrFull says that it does not read what it was sent before, ErrEnding that it
// reads no more.
func (p *Process) Push(message []byte, by string, most int) error {
	return p.in.push(message, by, most)
}

// pipes returns both ends of what are stdin, stdout and stderr to a process.
func pipes() (theirs, ours []*os.File, err error) {
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			closeAll(append(theirs, ours...))
			return nil, nil, fmt.Errorf("stdio: making a pipe: %w", err)
		}
		if i > 0 {
			r, w = w, r
		}
		theirs, ours = append(theirs, r), append(ours, w)
	}
	return theirs, ours, nil
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close()
	}
}

func (p *Process) write() {
	switch err := p.in.run(); {
	case errors.Is(err, ErrFull):
		p.Kill("it did not read what it was sent")
	case err != nil:
		p.unheard("it closed its stdin")
	}
}

// watch notices that the process has closed its stdin though nothing is written to it: what was before may never be read.
func (p *Process) watch() {
	if p.in.watch(); !p.in.isFinished() {
		p.unheard("it closed its stdin")
	}
}

// mostPassed is how much of a line is passed over beyond what is held, in bytes.
const mostPassed = 64 << 20

func (p *Process) read(most int, to Receiver) {
	lines := newLineReader(p.stdout, most)
	for {
		line, cut, err := lines.next()
		switch {
		case err != nil:
			p.unheard("it closed its stdout")
			return
		case !cut:
			to.Line(p, line)
			continue
		}
		end, err := lines.rest(mostPassed)
		if errors.Is(err, errEndless) || err == nil && !to.Cut(p, line, end) {
			p.Kill(fmt.Sprintf("a line of its stdout is longer than %d bytes", most))
			return
		}
	}
}

// unheard ends a process that hears nothing more, or that nobody hears any more, for the cause that is given. It has a moment to
// end by itself.
func (p *Process) unheard(cause string) {
	select {
	case <-p.exited:
	case <-time.After(p.ask):
		if p.endsFor(cause, true) { // else it has until its grace is over
			p.signal(syscall.SIGKILL)
		}
	}
}

// wait reaps the process, and with it ends what it left behind in its group. What was written
// before is still read; who escaped the group does not hold that up.
func (p *Process) wait() {
	state, err := p.reap()
	p.mu.Lock()
	if p.status = "its status is not known"; err == nil {
		p.status = state.String()
	}
	p.mu.Unlock()
	close(p.exited)
	p.in.finish()
	late := time.Now().Add(p.drain)
	_ = p.stdout.SetReadDeadline(late)
	_ = p.errors.SetReadDeadline(late)
	p.reading.Wait()
	closeAll([]*os.File{p.stdout, p.errors, p.in.file}) // the last may be blocked in a write
	close(p.done)
}
