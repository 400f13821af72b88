package integration

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"berth/internal/journal"
	"berth/internal/realtest"
)

const (
	// readyWithin bounds how long a process may take to listen: a Node server under
	// load on two cores needs a few seconds.
	readyWithin = 30 * time.Second

	// startAttempts is how often another port is tried: the free one may have been
	// taken before the process bound it.
	startAttempts = 3

	// shownOutput is how much of its output a process leaves in a failed test's log.
	shownOutput = 4096
)

// process is one server that a test started. Its methods may be called from any
// goroutine.
type process struct {
	name    string
	command *exec.Cmd
	output  output
	exited  chan struct{} // closed when the process is gone
}

// listen starts command(address) on a free address, waits until it accepts
// connections there, and kills it when the test ends.
func listen(t testing.TB, name string, command func(address string) *exec.Cmd) (*process, string) {
	t.Helper()
	for range startAttempts {
		address := freeAddress(t)
		p := start(t, name, command(address))
		if p.awaitListening(t, address) {
			return p, address
		}
		p.kill()
		t.Logf("%s did not listen on %s:\n%s", name, address, p.output.tail())
	}
	t.Fatalf("%s did not start", name)
	return nil, ""
}

// start starts command and kills it when the test ends. Its output is shown if the
// test fails; one that has a Stdout already keeps that for itself.
func start(t testing.TB, name string, command *exec.Cmd) *process {
	t.Helper()
	p := &process{name: name, command: command, exited: make(chan struct{})}
	command.Stderr = &p.output
	if command.Stdout == nil {
		command.Stdout = &p.output
	}
	realtest.Tie(command)
	if err := command.Start(); err != nil {
		t.Fatalf("starting %s: %v", name, err)
	}
	go func() {
		_ = command.Wait() // how it ended is seen in its output; that it ended is what counts
		close(p.exited)
	}()
	t.Cleanup(func() {
		p.kill()
		if t.Failed() {
			p.show(t)
		}
	})
	return p
}

// settled is the output once access records of what has ended are in it: they wait for others.
func (p *process) settled() string {
	time.Sleep(2 * journal.Age)
	return p.output.String()
}

// show logs the end of the output, and keeps the whole with the test's artifacts
// (go test -artifacts).
func (p *process) show(t testing.TB) {
	t.Helper()
	t.Logf("output of %s:\n%s", p.name, p.output.tail())
	path := filepath.Join(t.ArtifactDir(), fmt.Sprintf("%s-%d.log", p.name, p.command.Process.Pid))
	if err := os.WriteFile(path, []byte(p.output.String()), 0o644); err != nil {
		t.Logf("keeping the output of %s: %v", p.name, err)
	}
}

// awaitExit waits until the process is gone. How it ended is for its output to say.
func (p *process) awaitExit(t testing.TB, within time.Duration) {
	t.Helper()
	limit := time.NewTimer(within)
	defer limit.Stop()
	select {
	case <-p.exited:
	case <-limit.C:
		p.kill()
		t.Fatalf("%s did not end within %v", p.name, within)
	}
}

func (p *process) awaitListening(t testing.TB, address string) bool {
	t.Helper()
	listening := false
	await(t, readyWithin, func() bool {
		if !p.alive() {
			return true
		}
		connection, err := net.DialTimeout("tcp", address, time.Second)
		if err != nil {
			return false
		}
		_ = connection.Close() // nothing was sent on it
		listening = true
		return true
	})
	return listening
}

func (p *process) alive() bool {
	select {
	case <-p.exited:
		return false
	default:
		return true
	}
}

// kill ends the process at once, frozen or not, and waits until it is gone. Killing
// it twice is fine.
func (p *process) kill() {
	_ = p.command.Process.Kill() // it may be gone already; exited tells either way
	<-p.exited
}

// output keeps all that a process wrote.
type output struct{ realtest.Journal }

func (o *output) lines() []string { return strings.Split(o.String(), "\n") }

func (o *output) tail() string {
	all := o.String()
	return all[max(0, len(all)-shownOutput):]
}
