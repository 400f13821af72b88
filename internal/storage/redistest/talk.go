package redistest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"

	"berth/internal/realtest"
)

// Do sends one command with its arguments on a connection of its own and returns
// the answer: the text of a bulk string, the first line of any other. The test fails if
// there is none.
func (s *Server) Do(args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	answer, err := s.ask(ctx, args...)
	if err != nil {
		s.t.Fatalf("redis-server: %v: %v", args, err)
	}
	return answer
}

// Needs skips a test of what Redis has since a major version.
func (s *Server) Needs(major int, why string) {
	s.t.Helper()
	_, version, _ := strings.Cut(s.Do("INFO", "server"), "redis_version:")
	text, _, _ := strings.Cut(version, ".")
	if is, err := strconv.Atoi(text); err != nil || is < major {
		s.t.Skipf("redis-server is of version %s: %s", text, why)
	}
}

// Monitor returns what the server executes from now on, as MONITOR writes it, until
// the test ends.
func (s *Server) Monitor() *realtest.Journal {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Addr)
	if err != nil {
		s.t.Fatal(err)
	}
	said := new(realtest.Journal)
	var copying sync.WaitGroup
	copying.Go(func() { _, _ = io.Copy(said, conn) }) // ends with the connection
	s.t.Cleanup(func() {
		_ = conn.Close()
		copying.Wait()
	})
	if _, err := conn.Write([]byte("MONITOR\r\n")); err != nil {
		s.t.Fatal(err)
	}
	realtest.Eventually(s.t, "the monitor is on", func() bool { return said.Count("+OK") > 0 })
	return said
}

func (s *Server) ask(ctx context.Context, args ...string) (string, error) {
	answers, err := s.send(ctx, args...)
	if err != nil {
		return "", err
	}
	defer answers.Close()
	return answers.read()
}

// Keys are the keys that match any of the patterns, as KEYS has them.
func (s *Server) Keys(patterns ...string) (keys []string) {
	s.t.Helper()
	for _, pattern := range patterns {
		keys = append(keys, s.strings("KEYS", pattern)...)
	}
	return keys
}

// strings sends one command and returns the elements of its answer, an array.
func (s *Server) strings(args ...string) []string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), readyWithin)
	defer cancel()
	answers, err := s.send(ctx, args...)
	if err != nil {
		s.t.Fatalf("redis-server: %v: %v", args, err)
	}
	defer answers.Close()
	size, err := answers.read()
	count, notNumber := strconv.Atoi(strings.TrimPrefix(size, "*"))
	if err != nil || notNumber != nil {
		s.t.Fatalf("redis-server: %v: got %q, %v, want an array", args, size, err)
	}
	elements := make([]string, count)
	for i := range elements {
		if elements[i], err = answers.read(); err != nil {
			s.t.Fatalf("redis-server: %v: %v", args, err)
		}
	}
	return elements
}

// answers are read from one connection.
type answers struct {
	net.Conn
	buffered *bufio.Reader
}

// send sends one command on a connection of its own, which the caller closes.
func (s *Server) send(ctx context.Context, args ...string) (*answers, error) {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", s.Addr)
	if err != nil {
		return nil, err
	}
	request := fmt.Appendf(nil, "*%d\r\n", len(args))
	for _, arg := range args {
		request = fmt.Appendf(request, "$%d\r\n%s\r\n", len(arg), arg)
	}
	deadline, _ := ctx.Deadline() // none: never
	if err = conn.SetDeadline(deadline); err == nil {
		_, err = conn.Write(request)
	}
	if err != nil {
		_ = conn.Close() // it failed already
		return nil, err
	}
	return &answers{conn, bufio.NewReader(conn)}, nil
}

// read reads one answer: the text of a bulk string, the first line of any other.
func (a *answers) read() (string, error) {
	line, err := a.buffered.ReadString('\n')
	line = strings.TrimSpace(line)
	length, bulk := strings.CutPrefix(line, "$")
	size, notNumber := strconv.Atoi(length)
	if err != nil || !bulk || notNumber != nil || size < 0 {
		return line, err
	}
	text := make([]byte, size+len("\r\n"))
	_, err = io.ReadFull(a.buffered, text)
	return string(text[:size]), err
}
