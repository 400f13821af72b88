// Package journal writes the log. Lines that may wait a moment, those of access records, go out
// together; any other goes out at once, after all that came before it, so that the order of lines
// is that of what they tell. What may wait costs no reflection and few writes.
//
// A process that ends without Flush, killed or by a fault of its own, loses what has waited for
// less than Age.
package journal

import (
	"io"
	"log/slog"
	"sync"
	"time"
)

// Bounds of what waits.
const (
	Age   = 200 * time.Millisecond // how long a line waits at most, unless the output is slow
	batch = 64 << 10               // bytes that do not wait for more
)

// Journal writes whole lines. Its methods may be called concurrently.
type Journal struct {
	out   io.Writer
	timer *time.Timer

	writing sync.Mutex // held while lines are written; guards spare
	spare   []byte

	mu      sync.Mutex // guards the field below
	waiting []byte
}

// New returns a journal that writes to out.
func New(out io.Writer) *Journal {
	j := &Journal{out: out}
	j.timer = time.AfterFunc(Age, j.Flush)
	j.timer.Stop()
	return j
}

// Logger returns a logger whose lines go out at once. level may change.
func (j *Journal) Logger(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: level}))
}

// Write writes lines, after those that waited. It never fails: nobody could be told.
func (j *Journal) Write(lines []byte) (int, error) {
	j.add(lines)
	j.Flush()
	return len(lines), nil
}

// wait takes a line that may wait. While the output takes none, whoever comes beyond a batch
// waits for it.
func (j *Journal) wait(line []byte) {
	switch n := j.add(line); {
	case n >= batch:
		j.Flush()
	case n == len(line):
		j.timer.Reset(Age)
	}
}

func (j *Journal) add(lines []byte) (waiting int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.waiting = append(j.waiting, lines...)
	return len(j.waiting)
}

// Flush writes what waits.
func (j *Journal) Flush() {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.mu.Lock()
	lines := j.waiting
	j.waiting = j.spare[:0]
	j.mu.Unlock()
	if len(lines) > 0 {
		_, _ = j.out.Write(lines) // as with any logger
	}
	j.spare = lines[:0]
}
