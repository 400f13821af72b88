package process

import (
	"errors"
	"os"
	"strings"
	"testing"
)

// Who fills a share is refused, and that says nothing of the process: others have room, and only where all is full has it read too little.
func TestWhoFillsTheirShareOfAQueueIsRefusedAlone(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	q, message := newQueue(w, 0), []byte(strings.Repeat("x", 1<<20))
	fill := func(by string, most int) (taken int) {
		for q.push(message, by, most) == nil {
			taken++
		}
		return taken
	}
	if n := fill("greedy", MaxQueued/2); n != 3 || q.isFull() {
		t.Errorf("of the greedy one %d were taken, full: %v", n, q.isFull())
	}
	if n := fill("other", MaxQueued/2); n != 3 || q.isFull() {
		t.Errorf("of another one %d were taken, full: %v", n, q.isFull())
	}
	if err := q.push([]byte("answer"), "", MaxQueued); err != nil {
		t.Errorf("of nobody's: %v", err)
	}
	lines, _ := q.take()
	for _, line := range lines {
		q.wrote(line)
	}
	if n := fill("greedy", MaxQueued/2); n != 3 {
		t.Errorf("once that was read %d were taken", n)
	}
	if fill("alone", MaxQueued); !q.isFull() || !errors.Is(q.push(message, "other", MaxQueued/2), ErrFull) {
		t.Error("it is not full")
	}
	if len(q.of) != 2 {
		t.Errorf("it counts of %v", q.of)
	}
}
