//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
)

// openers is how many streams are being opened at a time.
const openers = 64

// listeners are the clients of standing streams, each in a session of its own.
type listeners struct {
	mu    sync.Mutex // guards the fields below
	conns []*load.Conn
	took  []time.Duration // of each event that came
	err   error           // the first failure to open
}

// open opens n streams.
func (l *listeners) open(proxy *contender.Running, n int) error {
	var opening sync.WaitGroup
	for first := range openers {
		opening.Go(func() {
			for i := first; i < n && l.failure() == nil; i += openers {
				l.listen(proxy, i)
			}
		})
	}
	opening.Wait()
	return l.failure()
}

func (l *listeners) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// listen opens the i-th stream and hears it from then on.
func (l *listeners) listen(proxy *contender.Running, i int) {
	conn, err := dial(proxy, i)
	if err == nil {
		err = startStream(conn)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if conn != nil {
		l.conns = append(l.conns, conn)
	}
	if err != nil {
		l.err = errors.Join(l.err, err)
		return
	}
	go func() { _ = conn.Follow(l.hear) }() // that it ends too early shows by events that are missing
}

// startStream opens a session, and its stream on the same connection.
func startStream(conn *load.Conn) error {
	opened, err := exchange(conn, initialize())
	if err != nil {
		return err
	}
	answer, err := conn.Open(standingStream(opened.Session))
	if err == nil && answer.Status != 200 {
		err = fmt.Errorf("a standing stream: got %d, want 200", answer.Status)
	}
	return err
}

// hear takes the time that an event bears.
func (l *listeners) hear(line []byte) {
	_, rest, found := bytes.Cut(line, []byte(`"at":`))
	if !found {
		return
	}
	now := time.Now().UnixNano()
	digits, _, _ := bytes.Cut(rest, []byte(","))
	at, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.took = append(l.took, time.Duration(now-at))
}

func (l *listeners) came() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.took)
}

// delays are how long the events that came have taken, ascending.
func (l *listeners) delays() []time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Sorted(slices.Values(l.took))
}

func (l *listeners) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, conn := range l.conns {
		conn.Close()
	}
}
