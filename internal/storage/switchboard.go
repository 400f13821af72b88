package storage

import (
	"context"
	"sync"
)

// waitingNotices is how many messages wait for a watcher that is slow.
const waitingNotices = 256

// switchboard passes notices on within one process. The zero value has no watchers.
type switchboard struct {
	mu       sync.Mutex // guards the field below
	watchers map[string]map[*watcher]struct{}
}

// watcher is one Watch at work.
type watcher struct {
	messages chan string
	missed   chan struct{} // holds one: some message found no room
}

// notify tells message to those who watch topic, and waits for none of them.
func (s *switchboard) notify(topic, message string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.watchers[topic] {
		select {
		case w.messages <- message:
		default:
			w.miss()
		}
	}
}

// watch implements Notices.
func (s *switchboard) watch(ctx context.Context, topic string, heard func(string)) {
	w := &watcher{messages: make(chan string, waitingNotices), missed: make(chan struct{}, 1)}
	w.miss() // what was said before it came
	s.add(topic, w)
	defer s.remove(topic, w)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-w.missed:
			heard("")
		case message := <-w.messages:
			heard(message)
		}
	}
}

func (w *watcher) miss() {
	select {
	case w.missed <- struct{}{}:
	default: // the one that waits there will do
	}
}

func (s *switchboard) add(topic string, w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.watchers == nil {
		s.watchers = make(map[string]map[*watcher]struct{})
	}
	if s.watchers[topic] == nil {
		s.watchers[topic] = make(map[*watcher]struct{})
	}
	s.watchers[topic][w] = struct{}{}
}

func (s *switchboard) remove(topic string, w *watcher) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.watchers[topic], w)
	if len(s.watchers[topic]) == 0 {
		delete(s.watchers, topic)
	}
}
