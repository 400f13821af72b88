// Package localbus carries the notices of a store that belongs to one process.
package localbus

import (
	"context"
	"sync"
)

const waitingNotices = 256

// Bus is Notices within one process. The zero value has no watchers.
type Bus struct {
	mu       sync.Mutex // guards the field below
	watchers map[string]map[*watcher]struct{}
}

type watcher struct {
	messages chan string
	missed   chan struct{} // holds one: some message found no room
}

// Notify waits for none of those who watch.
func (b *Bus) Notify(_ context.Context, topic, message string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for w := range b.watchers[topic] {
		select {
		case w.messages <- message:
		default:
			w.miss()
		}
	}
	return nil
}

// Watch implements Notices.
func (b *Bus) Watch(ctx context.Context, topic string, received func(string)) error {
	w := &watcher{messages: make(chan string, waitingNotices), missed: make(chan struct{}, 1)}
	w.miss() // what was said before it came
	b.add(topic, w)
	defer b.remove(topic, w)
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-w.missed:
			received("")
		case message := <-w.messages:
			received(message)
		}
	}
	return nil
}

func (w *watcher) miss() {
	select {
	case w.missed <- struct{}{}:
	default: // the one that waits there will do
	}
}

func (b *Bus) add(topic string, w *watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watchers == nil {
		b.watchers = make(map[string]map[*watcher]struct{})
	}
	if b.watchers[topic] == nil {
		b.watchers[topic] = make(map[*watcher]struct{})
	}
	b.watchers[topic][w] = struct{}{}
}

func (b *Bus) remove(topic string, w *watcher) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.watchers[topic], w)
	if len(b.watchers[topic]) == 0 {
		delete(b.watchers, topic)
	}
}
