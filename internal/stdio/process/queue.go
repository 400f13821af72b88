package process

import (
	"errors"
	"os"
	"sync"
	"time"
)

// MaxQueued bounds, in bytes, what waits for a process to read it. A single line may be longer.
const MaxQueued = 8 << 20

// What Push fails with.
var (
	ErrFull   = errors.New("stdio: the process does not read what it is sent")
	ErrEnding = errors.New("stdio: the process is ending")
)

// queue is the stdin of a process. Nobody who adds to it waits.
type queue struct {
	file  *os.File
	stuck time.Duration // how long the process may read nothing while there is no room
	ready chan struct{} // holds one word that something has changed

	mu       sync.Mutex // guards the fields below
	lines    []line
	bytes    int            // of lines, and of what is being written
	of       map[string]int // of these, by whose they are
	refused  bool           // there was no room, and there has been none since
	finished bool           // nothing is added any more
}

// line is a message with its end.
type line struct {
	text []byte
	by   string
}

func newQueue(file *os.File, stuck time.Duration) *queue {
	return &queue{file: file, stuck: stuck, ready: make(chan struct{}, 1), of: map[string]int{}}
}

// push adds a message, which must be one line, of somebody of whose at most so many bytes may wait.
func (q *queue) push(message []byte, by string, most int) error {
	text := append(message[:len(message):len(message)], '\n')
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.finished:
		return ErrEnding
	case most < MaxQueued && q.of[by] > 0 && q.of[by]+len(text) > most:
		return ErrFull
	case q.bytes > 0 && q.bytes+len(text) > MaxQueued:
		q.refused = true
		return ErrFull
	}
	q.lines = append(q.lines, line{text, by})
	q.bytes += len(text)
	q.of[by] += len(text)
	q.wake()
	return nil
}

// finish closes stdin once what was added is written.
func (q *queue) finish() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.finished = true
	q.wake()
}

func (q *queue) wake() {
	select {
	case q.ready <- struct{}{}:
	default:
	}
}

// run writes until the queue is finished, or the process reads no more; ErrFull says that
// this is why. It closes stdin.
func (q *queue) run() error {
	defer q.file.Close()
	for {
		lines, finished := q.take()
		for _, line := range lines {
			if err := q.write(line); err != nil {
				q.finish()
				return err
			}
		}
		if finished && len(lines) == 0 {
			return nil
		}
		if len(lines) == 0 {
			<-q.ready
		}
	}
}

// watch returns when nobody is left who could read stdin, or it is closed.
func (q *queue) watch() {
	pipe, err := q.file.SyscallConn()
	if err != nil {
		return
	}
	_ = pipe.Read(hasNoReader) // the runtime wakes who waits to read from a pipe's other end as well
}

func (q *queue) take() (lines []line, finished bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	lines, q.lines = q.lines, nil
	return lines, q.finished
}

func (q *queue) write(l line) error {
	rest := l.text
	for {
		if err := q.file.SetWriteDeadline(time.Now().Add(q.stuck)); err != nil {
			return err
		}
		n, err := q.file.Write(rest)
		rest = rest[n:]
		switch {
		case err == nil:
			q.wrote(l)
			return nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return err
		case n == 0 && q.isFull():
			return ErrFull
		}
	}
}

func (q *queue) wrote(l line) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.bytes -= len(l.text)
	if q.of[l.by] -= len(l.text); q.of[l.by] == 0 {
		delete(q.of, l.by)
	}
	q.refused = false
}

func (q *queue) isFull() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.refused
}

func (q *queue) isFinished() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.finished
}
