package demo

import (
	"context"
	"fmt"
	"time"

	"berth/internal/client"
)

// A nap is what became of one call of the tool that sleeps, by a client that takes a task
// in place of the result, and does not ask for one.
type nap struct {
	Outcome
	handed bool          // the first answer was a task
	first  time.Duration // from the call to its first answer
	whole  time.Duration // from the call to its result; 0 unless right
}

// nap calls sleep and, where it is handed a task, polls that to its end.
func (c *Client) nap(ctx context.Context, label string, d time.Duration) nap {
	n := nap{Outcome: Outcome{Kind: c.Kind}}
	v := &conversation{client: c}
	start := time.Now()
	result, err := v.call(ctx, "tools/call", map[string]any{
		"name": "sleep", "arguments": map[string]any{"seconds": d.Seconds(), "label": label},
	})
	n.first = time.Since(start)
	if err != nil {
		n.Err = err
		return n
	}
	task, handed := client.ReadMade(v.version("tools/call"), result)
	if n.handed = handed; handed {
		if result, n.Err = v.await(ctx, task, &n.Outcome); n.Err != nil {
			return n
		}
	}
	if n.Owner, n.Err = checkResult(result, label); n.Err == nil {
		n.whole = time.Since(start)
	}
	return n
}

// places are what the polls said of the queue, from 1.
func (n nap) places() (places []int) {
	for _, seen := range n.Seen {
		if place, waits := placeIn(seen.Message); waits {
			places = append(places, place)
		}
	}
	return places
}

// progress is what the polls said of how far the tool is.
func (n nap) progress() (texts []string) {
	for _, seen := range n.Seen {
		if _, waits := placeIn(seen.Message); !waits && seen.Status == "working" && seen.Message != "" {
			texts = append(texts, seen.Message)
		}
	}
	return texts
}

// steps are the places in the queue and the states that the polls said, without
// repetitions.
func (n nap) steps() (steps []string) {
	for _, seen := range n.Seen {
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
