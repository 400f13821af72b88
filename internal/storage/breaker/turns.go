package breaker

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"berth/internal/storage/engine"
)

// patience is how long an operation waits for its turn, in multiples of the time for an answer:
// 2 s by default.
const patience = 8

// waiting is one of the lines that operations stand in. Whoever writes much must not keep polls
// waiting: every other turn is a reader's while both lines are there.
type waiting int

const (
	toRead waiting = iota
	toWrite
)

// lineOf is where an operation waits. A notice follows a write.
func lineOf(op string) waiting {
	switch op {
	case engine.OpGet, engine.OpMembers, engine.OpListing, engine.OpPage, engine.OpNow:
		return toRead
	}
	return toWrite
}

// turns let as many operations at a time go to a server as it has connections. The others wait
// here: at the driver's pool nobody tells waiting from a server that is slow.
type turns struct {
	mu    sync.Mutex // guards the fields below
	free  int
	lines [2]list.List // of chan struct{}, each closed with its turn
	last  waiting      // of whoever was given a turn out of a line
}

func newTurns(most int) *turns { return &turns{free: max(most, 1)} }

// takeFree takes a turn that nobody has, and reports whether there was one.
func (t *turns) takeFree() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free == 0 {
		return false
	}
	t.free--
	return true
}

func (t *turns) take(ctx context.Context, op string, wait time.Duration) error {
	line := lineOf(op)
	turn, place := t.enter(line)
	if turn == nil {
		return nil
	}
	late := time.NewTimer(wait)
	defer late.Stop()
	var err error
	select {
	case <-turn:
		return nil
	case <-late.C:
		err = busy(op, nil)
	case <-ctx.Done():
		if err = ctx.Err(); errors.Is(err, context.Canceled) {
			err = fmt.Errorf("storage: %s: %w", op, err)
		} else {
			err = busy(op, err)
		}
	}
	if t.left(line, turn, place) {
		return err
	}
	return nil // the turn came at the same moment
}

// busy says that nobody was asked, for others were. It tells nothing of the server.
func busy(op string, deadline error) error {
	return &engine.Fault{Op: op, Reason: engine.ReasonBusy, Detail: "more is asked at once than is answered in time", Refusal: true, Deadline: deadline}
}

func (t *turns) enter(line waiting) (turn chan struct{}, place *list.Element) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.free > 0 { // since it was asked for
		t.free--
		return nil, nil
	}
	turn = make(chan struct{})
	return turn, t.lines[line].PushBack(turn)
}

func (t *turns) left(line waiting, turn chan struct{}, place *list.Element) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	select {
	case <-turn:
		return false
	default:
	}
	t.lines[line].Remove(place)
	return true
}

// give passes a turn on: to the other line than the last one, if anybody waits there.
func (t *turns) give() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, line := range [2]waiting{1 - t.last, t.last} {
		if first := t.lines[line].Front(); first != nil {
			close(t.lines[line].Remove(first).(chan struct{}))
			t.last = line
			return
		}
	}
	t.free++
}
