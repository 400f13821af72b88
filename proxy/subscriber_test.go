package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// subscriber is a client's subscription, read as it comes.
type subscriber struct {
	f      *rig
	id     string // raw JSON
	cancel context.CancelFunc
	status int
	done   chan struct{} // closed when the stream has ended

	mu       sync.Mutex // guards the fields below
	events   []subscriptionEvent
	comments int
	err      error // nil: the stream ended whole
}

// subscriptionEvent is what the tests read of a message on a subscription's stream.
type subscriptionEvent struct {
	ID     json.RawMessage
	Method string
	Params struct {
		Meta          map[string]json.RawMessage `json:"_meta"`
		Notifications json.RawMessage
		TaskID        string
		Status        string
		URI           string
	}
	Result json.RawMessage
	raw    string
}

// subscribe opens a subscription with this JSON-RPC id and filter.
func (f *rig) subscribe(id, filter string, header ...string) *subscriber {
	f.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	f.t.Cleanup(cancel)
	body := strings.Replace(message("subscriptions/listen", `"notifications":`+filter+`,`+tasksMeta), `"id":1`, `"id":`+id, 1)
	s := &subscriber{f: f, id: id, cancel: cancel, done: make(chan struct{})}
	resp := f.open(f.request(ctx, http.MethodPost, body, append(modernHeader("subscriptions/listen", ""), header...)...))
	s.status = resp.StatusCode
	go s.read(resp)
	return s
}

func (s *subscriber) read(resp *http.Response) {
	defer close(s.done)
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	var event strings.Builder
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			if err != io.EOF || event.Len() > 0 {
				s.err = fmt.Errorf("after %q: %w", event.String(), err)
			}
			return
		}
		event.WriteString(line)
		if line == "\n" {
			s.take(event.String())
			event.Reset()
		}
	}
}

func (s *subscriber) take(raw string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data := eventsIn(raw)
	if len(data) == 0 {
		s.comments++
		return
	}
	var e subscriptionEvent
	if err := json.Unmarshal([]byte(data[0]), &e); err != nil {
		e.Method = "garbled: " + data[0][:min(200, len(data[0]))]
	}
	e.raw = data[0]
	s.events = append(s.events, e)
}

// heard returns the events so far.
func (s *subscriber) heard() []subscriptionEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

// agreed returns what the first event, and only that, acknowledges.
func (s *subscriber) agreed() string {
	s.f.t.Helper()
	events := s.heard()
	if len(events) == 0 {
		return ""
	}
	for i, e := range events {
		if (e.Method == "notifications/subscriptions/acknowledged") != (i == 0) {
			s.f.t.Errorf("event %d of subscription %s is %s", i, s.id, e.raw)
		}
	}
	return string(events[0].Params.Notifications)
}

// told returns method and subject of all after the acknowledgement, each of which must
// be for this subscription.
func (s *subscriber) told() (out []string) {
	s.f.t.Helper()
	for _, e := range s.heard()[1:] {
		if got := string(e.Params.Meta["io.modelcontextprotocol/subscriptionId"]); e.Method != "" && got != s.id {
			s.f.t.Errorf("subscription %s was told of one with id %s: %s", s.id, got, e.raw)
		}
		switch {
		case e.Method == "":
			out = append(out, "result "+string(e.ID))
		case e.Method == "notifications/tasks":
			out = append(out, e.Params.TaskID+" "+e.Params.Status)
		default:
			out = append(out, strings.TrimSpace(strings.TrimPrefix(e.Method, "notifications/")+" "+e.Params.URI))
		}
	}
	return out
}

func (s *subscriber) fault() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}

// tasksFilter is a filter for these tasks, and more members before them.
func tasksFilter(more string, ids ...string) string {
	list, _ := json.Marshal(ids) // strings always marshal
	return `{` + more + `"taskIds":` + string(list) + `}`
}
