// Package redistest starts real redis-servers for tests: on a free port of the
// loopback interface, in a directory of their own, without persistence unless asked
// for; alone, as a master with replicas and sentinels, or as a cluster. They are
// killed by their process id when the test ends, and on Linux with the test process,
// should that end first. A Relay worsens the line to one.
package redistest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"berth/internal/realtest"
)

const (
	// readyWithin bounds how long a server may take to answer its first PING.
	readyWithin = 20 * time.Second

	// startAttempts is how often another port is tried: the free one that was found
	// may be taken before the server binds it.
	startAttempts = 3
)

// Server is one running redis-server. Its methods belong to the test's goroutine.
type Server struct {
	// Addr is host:port on the loopback interface.
	Addr string

	// Dir is the working directory: an RDB file that the server saves lies here.
	Dir string

	t       testing.TB
	config  string // file of a sentinel; empty: a server
	args    []string
	process *exec.Cmd
	output  bytes.Buffer  // of process; to be read once it has exited
	exited  chan struct{} // closed when process has
}

// Start starts a server with args added to its command line, waits until it answers
// (be it with NOAUTH or LOADING), and kills it when the test ends. Where
// redis-server is not installed the test is skipped, and fails if CI=true or
// BERTH_REQUIRE_PARTS=1 is set.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := &Server{t: t, Dir: t.TempDir(), args: args}
	s.start(func() string { return freeAddr(t) })
	return s
}

// start starts s on one of the addresses that free finds.
func (s *Server) start(free func() string) {
	s.t.Helper()
	requireRedis(s.t)
	s.t.Cleanup(func() {
		s.Kill()
		if s.t.Failed() {
			s.t.Logf("redis-server at %s:\n%s", s.Addr, &s.output)
		}
	})
	var err error
	for range startAttempts {
		s.Addr = free()
		if err = s.launch(); err == nil {
			return
		}
		s.Kill()
	}
	s.t.Fatalf("redis-server did not start: %v\n%s", err, &s.output)
}

func requireRedis(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err == nil {
		return
	}
	const missing = "redis-server is not installed (Debian, Ubuntu: apt-get install redis-server; macOS: brew install redis)"
	if os.Getenv("CI") == "true" || os.Getenv("BERTH_REQUIRE_PARTS") == "1" {
		t.Fatal(missing)
	}
	t.Skip(missing)
}

// URL is a store URL for database 0, without credentials.
func (s *Server) URL() string { return "redis://" + s.Addr + "/0" }

// Pid is the process id, or 0 if the server was killed.
func (s *Server) Pid() int {
	if s.process == nil {
		return 0
	}
	return s.process.Process.Pid
}

// Stop freezes the server (SIGSTOP): the kernel goes on accepting its connections,
// and nobody answers.
func (s *Server) Stop() { s.signal(syscall.SIGSTOP) }

// Cont lets a frozen server go on.
func (s *Server) Cont() { s.signal(syscall.SIGCONT) }

func (s *Server) signal(sig syscall.Signal) {
	s.t.Helper()
	if err := s.process.Process.Signal(sig); err != nil {
		s.t.Fatalf("redis-server %d: %v: %v", s.Pid(), sig, err)
	}
}

// Kill kills the server (SIGKILL, frozen or not) and waits for its end. Killing it
// twice is fine.
func (s *Server) Kill() {
	if s.process == nil {
		return
	}
	_ = s.process.Process.Kill() // it may have died already
	<-s.exited
	s.process = nil
}

// Restart kills the server if it runs and starts it again on the same port and in
// the same directory, with args added to those of Start.
func (s *Server) Restart(args ...string) {
	s.t.Helper()
	s.Kill()
	s.args = append(slices.Clone(s.args), args...)
	if err := s.launch(); err != nil {
		s.Kill()
		s.t.Fatalf("redis-server did not start again: %v\n%s", err, &s.output)
	}
}

// launch starts the process and waits for its first answer.
func (s *Server) launch() error {
	s.output.Reset()
	process := exec.Command("redis-server", s.line()...)
	process.Stdout, process.Stderr = &s.output, &s.output
	realtest.Tie(process)
	if err := process.Start(); err != nil {
		return err
	}
	s.process, s.exited = process, make(chan struct{})
	go func() {
		defer close(s.exited)
		_ = process.Wait() // how it ended is in its output
	}()
	return s.awaitAnswer()
}

// line is the command line, after the program's name.
func (s *Server) line() []string {
	where := []string{"--bind", s.host(), "--port", s.port(), "--dir", s.Dir, "--daemonize", "no"}
	if s.config != "" {
		return append(append([]string{s.config, "--sentinel"}, where...), s.args...)
	}
	return append(append(where, "--save", "", "--appendonly", "no"), s.args...)
}

func (s *Server) host() string {
	host, _, _ := net.SplitHostPort(s.Addr) // an address that we have made
	return host
}

func (s *Server) port() string {
	_, port, _ := net.SplitHostPort(s.Addr)
	return port
}

// awaitAnswer polls with PING until any answer comes.
func (s *Server) awaitAnswer() error {
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	poll := time.NewTicker(10 * time.Millisecond)
	defer poll.Stop()
	for {
		answer, err := s.ask(ctx, "PING")
		if err == nil && answer != "" {
			return nil
		}
		select {
		case <-s.exited:
			return errors.New("it exited")
		case <-ctx.Done():
			return fmt.Errorf("no answer to PING in %v: %w", readyWithin, err)
		case <-poll.C:
		}
	}
}

// freeAddr finds a port that nobody listens on just now.
func freeAddr(t testing.TB) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("looking for a free port: %v", err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
