// Package journal writes the log. Lines that may wait a moment, those of access records, go out
// together; any other goes out at once, after all that came before it, so that the order of lines
// is that of what they tell. What may wait costs no reflection and few writes.
//
// Nobody waits for good for an output that takes nothing, as a pipe does whose reader stalls: once
// Patience is over lines are lost beyond what may wait. So is what the output refuses, as a full disk
// does. How many were lost is a line once the output takes some again.
//
// A process that ends without Flush, killed or by a fault of its own, loses what has waited for
// less than Age.
package journal

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// Bounds of what waits.
const (
	Age      = 200 * time.Millisecond // how long a line waits at most, unless the output is slow
	Patience = time.Second            // how long anybody waits for the output
	batch    = 64 << 10               // bytes that do not wait for more
	most     = 4 << 20                // bytes that wait for the output
	maxSpare = 1 << 20                // bytes of memory that are kept for what comes
)

// Journal writes whole lines. Its methods may be called concurrently.
type Journal struct {
	out   sink // used by who writes
	timer *time.Timer

	mu      sync.Mutex // guards the fields below
	waiting []byte
	spare   []byte
	asked   chan struct{} // closed once what waits now is written; nil: nobody has asked for that
	writing bool          // somebody writes, and then what was asked for
	stalled bool          // somebody has waited in vain since the output took something
	lost    int           // lines since then
	losing  func()        // is told of each; nil: nobody is
}

// New returns a journal that writes to out.
func New(out io.Writer) *Journal {
	j := &Journal{out: sink{out: out}}
	j.timer = time.AfterFunc(Age, func() {
		j.mu.Lock()
		defer j.mu.Unlock()
		j.ask()
	})
	j.timer.Stop()
	return j
}

// OnLoss has lost be called for each line that is lost, at once. It must neither wait nor write to the journal.
func (j *Journal) OnLoss(lost func()) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.losing = lost
}

// Waiting is how many lines have not been handed to the output.
func (j *Journal) Waiting() int64 {
	j.mu.Lock()
	defer j.mu.Unlock()
	return int64(bytes.Count(j.waiting, []byte("\n")))
}

// Logger returns a logger whose lines go out at once. level may change.
func (j *Journal) Logger(level slog.Leveler) *slog.Logger {
	return slog.New(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: level}))
}

// Write writes lines, after those that waited. It never fails: nobody could be told.
func (j *Journal) Write(lines []byte) (int, error) {
	if _, ok := j.add(lines); ok {
		j.Flush()
	}
	return len(lines), nil
}

// wait takes a line that may wait.
func (j *Journal) wait(line []byte) {
	switch n, ok := j.add(line); {
	case !ok:
	case n >= batch:
		j.mu.Lock()
		defer j.mu.Unlock()
		j.ask()
	case n == len(line):
		j.timer.Reset(Age)
	}
}

// add adds lines to what waits, once there is room for them. ok is false if they are lost.
func (j *Journal) add(lines []byte) (waiting int, ok bool) {
	j.mu.Lock()
	if j.isFull(lines) && !j.stalled {
		done := j.ask()
		j.mu.Unlock()
		j.await(done)
		j.mu.Lock()
	}
	defer j.mu.Unlock()
	if j.isFull(lines) {
		j.lost++
		j.lose()
		return 0, false
	}
	j.waiting = append(j.waiting, lines...)
	return len(j.waiting), true
}

// lose tells of a line that is lost. The caller holds mu.
func (j *Journal) lose() {
	if j.losing != nil {
		j.losing()
	}
}

func (j *Journal) isFull(lines []byte) bool {
	return len(j.waiting) > 0 && len(j.waiting)+len(lines) > most
}

// ask has what waits written, and returns what is closed then. The caller holds mu.
func (j *Journal) ask() <-chan struct{} {
	if j.asked == nil {
		j.asked = make(chan struct{})
		if !j.writing {
			j.writing = true
			go j.write()
		}
	}
	return j.asked
}

// write writes as often as it is asked for.
func (j *Journal) write() {
	j.mu.Lock()
	defer j.mu.Unlock()
	for j.asked != nil {
		done, lines, lost := j.asked, j.waiting, j.lost
		j.asked, j.waiting, j.lost, j.spare = nil, j.spare, 0, nil
		j.mu.Unlock()
		failed := j.out.write(lines)
		if j.out.lost += lost; lost > 0 {
			j.out.write(nil)
		}
		close(done)
		j.mu.Lock()
		for range failed {
			j.lose()
		}
		if j.stalled = false; cap(lines) <= maxSpare {
			j.spare = lines[:0]
		}
	}
	j.writing = false
}

// await waits until done is closed, or Patience is over: then nobody waits any more until the output takes something.
func (j *Journal) await(done <-chan struct{}) {
	timer := time.NewTimer(Patience)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
		j.mu.Lock()
		defer j.mu.Unlock()
		j.stalled = true
	}
}

// FlushFor writes what waits, and waits for that until ctx ends, though the output is stalled.
func (j *Journal) FlushFor(ctx context.Context) {
	j.mu.Lock()
	done := j.ask()
	j.mu.Unlock()
	select {
	case <-done:
	case <-ctx.Done():
	}
}

// Flush writes what waits, unless the output is stalled.
func (j *Journal) Flush() {
	j.mu.Lock()
	done, stalled := j.ask(), j.stalled
	j.mu.Unlock()
	if !stalled {
		j.await(done)
	}
}
