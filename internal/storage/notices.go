package storage

import "context"

// Notices are words from process to process, by topic. They are hints: one may be lost
// without anybody being told at once, and nothing may depend on its arrival.
type Notices interface {
	// Notify tells message to those who watch topic now, this process included. That it
	// succeeds says nothing of who has heard it.
	Notify(ctx context.Context, topic, message string) error

	// Watch calls heard with each message of topic, one call after another, until ctx
	// ends, and then returns nil; if the store is closed, ErrUnavailable. heard("") says
	// that messages may have been missed: at the start, once nothing that follows is
	// missed, when a connection is lost and once there is another, and when heard was too
	// slow for what came. An outage ends no watch.
	Watch(ctx context.Context, topic string, heard func(message string)) error
}
