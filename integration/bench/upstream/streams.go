package upstream

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// streams are the standing streams of all instances.
type streams struct {
	mu   sync.Mutex // guards open
	open []net.Conn
}

// hold opens a standing stream on conn and returns when it is over.
func (s *streams) hold(conn net.Conn, in *bufio.Reader) error {
	if _, err := io.WriteString(conn, streamHead); err != nil {
		return err
	}
	s.mu.Lock()
	s.open = append(s.open, conn)
	s.mu.Unlock()
	_, err := in.ReadByte() // nothing comes but the end
	return err
}

// Streams are how many standing streams were opened since the last ForgetStreams.
func (f *Fleet) Streams() int {
	f.streams.mu.Lock()
	defer f.streams.mu.Unlock()
	return len(f.streams.open)
}

// ForgetStreams is called between two proxies, once the first is gone.
func (f *Fleet) ForgetStreams() {
	f.streams.mu.Lock()
	defer f.streams.mu.Unlock()
	f.streams.open = nil
}

// Tell sends one event down the n-th standing stream, counted round; it bears the time, in nanoseconds, as "at".
func (f *Fleet) Tell(n int) error {
	f.streams.mu.Lock()
	conn := f.streams.open[n%len(f.streams.open)]
	f.streams.mu.Unlock()
	return sendEvent(conn, fmt.Sprintf(
		`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":{"at":%d,"text":"a step of the work is done"}}}`,
		time.Now().UnixNano()))
}
