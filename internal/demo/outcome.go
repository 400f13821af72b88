package demo

import (
	"errors"
	"fmt"
	"time"

	"berth/internal/client"
)

// Why a tool call did not come back right.
var (
	// ErrTaskLost: a poll was answered with anything but the task.
	ErrTaskLost = errors.New("demo: task lost")
	// ErrSessionLost: the session was denied before a task was made.
	ErrSessionLost = errors.New("demo: session lost")
	// ErrWrongResult: the result is not that of the call.
	ErrWrongResult = errors.New("demo: wrong result")
)

// An Outcome is what became of one tool call.
type Outcome struct {
	Kind   Kind
	Owner  string        // the instance that computed the result; empty unless right
	First  time.Duration // from the call to its first answer
	Handed bool          // that answer was a task
	Polls  int           // tasks/* calls sent
	Lost   int           // those not answered with the task; a client stops at the first
	Err    error         // nil if the right result came back

	// Seen is the task as tasks/get showed it, once for each status and message.
	Seen []client.Task
}

// see notes a poll's answer that is not the one before once more.
func (o *Outcome) see(t client.Task) {
	if n := len(o.Seen); n == 0 || o.Seen[n-1].Status != t.Status || o.Seen[n-1].Message != t.Message {
		o.Seen = append(o.Seen, t)
	}
}

// places are what the polls said of the queue, from 1.
func (o Outcome) places() (places []int) {
	for _, seen := range o.Seen {
		if place, waits := placeIn(seen.Message); waits {
			places = append(places, place)
		}
	}
	return places
}

// progress is what the polls said of how far the tool is.
func (o Outcome) progress() (texts []string) {
	for _, seen := range o.Seen {
		if _, waits := placeIn(seen.Message); !waits && seen.Status == "working" && seen.Message != "" {
			texts = append(texts, seen.Message)
		}
	}
	return texts
}

// steps are the places in the queue and the states that the polls said, without
// repetitions.
func (o Outcome) steps() (steps []string) {
	for _, seen := range o.Seen {
		step := seen.Status
		if _, waits := placeIn(seen.Message); waits {
			step = seen.Message
		}
		if len(steps) == 0 || steps[len(steps)-1] != step {
			steps = append(steps, step)
		}
	}
	return steps
}

// placeIn reads a place in a queue, from 1, out of what a server says of a task; waits is
// false if it says none.
func placeIn(message string) (place int, waits bool) {
	_, err := fmt.Sscanf(message, "queued, %d", &place)
	return place, err == nil
}
