package probe

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"time"

	"berth/internal/client"
	"berth/internal/mcp"
	"berth/internal/sse"
)

// listener is a stream of subscriptions/listen about some tasks.
type listener struct {
	about  []*task
	agreed map[string]bool // ids of the tasks that were acknowledged
	since  time.Time       // when they were

	stop context.CancelFunc
	acks chan []string // ids in an acknowledgement; buffered, the first counts
	ends chan string   // ids of tasks that were told to have ended; buffered
	done chan struct{} // closed when nothing more is read
}

// newListener reads the stream that response is, until it ends or stop is called.
func newListener(response *http.Response, about []*task, stop context.CancelFunc) *listener {
	l := &listener{
		about: about, agreed: map[string]bool{}, stop: stop,
		acks: make(chan []string, 1), ends: make(chan string, 4*streams), done: make(chan struct{}),
	}
	go l.read(response)
	return l
}

func (l *listener) read(response *http.Response) {
	defer close(l.done)
	defer response.Body.Close()
	events := sse.NewReader(io.LimitReader(response.Body, client.MaxAnswer), mcp.MaxPeek)
	for {
		message, err := client.NextMessage(events)
		if err != nil {
			return // what was not heard by now is missed, whatever ended the stream
		}
		l.hear(message)
	}
}

// hear notes an acknowledgement, and the end of a task. More than fits is repetition.
func (l *listener) hear(message *client.Incoming) {
	switch message.Method {
	case mcp.NotificationAcknowledged:
		var ack struct {
			Notifications struct {
				TaskIDs []string `json:"taskIds"`
			} `json:"notifications"`
		}
		if json.Unmarshal(message.Params, &ack) == nil {
			offer(l.acks, ack.Notifications.TaskIDs)
		}
	case mcp.NotificationTask:
		if t, ok := client.ReadTask(message.Params); ok && t.Terminal() {
			offer(l.ends, t.ID)
		}
	}
}

// offer sends v if there is room.
func offer[T any](to chan T, v T) {
	select {
	case to <- v:
	default:
	}
}

// awaitAck waits for the acknowledgement and reports whether it came.
func (l *listener) awaitAck(ctx context.Context) bool {
	timer := time.NewTimer(ackWithin)
	defer timer.Stop()
	select {
	case ids := <-l.acks:
		l.since = time.Now()
		for _, t := range l.about {
			if slices.Contains(ids, t.ID) {
				l.agreed[t.ID] = true
			}
		}
		return true
	case <-timer.C:
	case <-ctx.Done():
	}
	return false
}

// awaitEnds waits until the stream told of the end of all these tasks, for a while, and
// returns those that it did not tell of.
func (l *listener) awaitEnds(ctx context.Context, missing map[string]bool) map[string]bool {
	timer := time.NewTimer(toldWithin)
	defer timer.Stop()
	for len(missing) > 0 {
		select {
		case id := <-l.ends:
			delete(missing, id)
		case <-timer.C:
			return missing
		case <-ctx.Done():
			return missing
		}
	}
	return missing
}

// close ends the stream. A nil listener has none.
func (l *listener) close() {
	if l != nil {
		l.stop()
		<-l.done
	}
}
