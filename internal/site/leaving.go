package site

import (
	"context"
	"fmt"
	"time"
)

// LastWords is how long what is to be said at the end may take.
const LastWords = 3 * time.Second

// Leave says that the berth goes: to readiness, and to those who read the bulletin.
func (s *Site) Leave() {
	s.leaves.Store(true)
	s.board.Tell()
}

// AwaitClients waits for clients to close their connections, until ctx ends. Call it after Entrances.
func (s *Site) AwaitClients(ctx context.Context) {
	await(ctx, func() bool { return s.connections.Open() == 0 })
}

// await looks now and then, until done says so or ctx ends.
func await(ctx context.Context, done func() bool) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// HandOver leaves to other berths what they can go on with, until ctx ends. It returns at once.
func (s *Site) HandOver(ctx context.Context) {
	if tasks := s.tasks.Load(); tasks != nil {
		tasks.StopCreating()
		go tasks.HandOver(ctx)
	}
}

// AwaitTied waits for the calls that live in this process alone, and for what other berths are
// still being told of them.
func (s *Site) AwaitTied(ctx context.Context) {
	if s.parts.Here() == 0 {
		return
	}
	await(ctx, func() bool { return s.parts.Here() == 0 })
	ctx, cancel := context.WithTimeout(ctx, LastWords) // a stream of another berth's may stand for ever
	defer cancel()
	await(ctx, func() bool { return s.mailbox.Serving() == 0 })
}

// Left is how much of each a berth that goes still has.
type Left struct {
	Requests    int64 // of clients, standing streams aside
	Streams     int64 // of clients, that stand
	Held        int64 // calls that became tasks
	Tied        int64 // calls that live in this process alone
	Connections int64 // of clients
}

// Left counts what is under way.
func (s *Site) Left() Left {
	proxy := s.Proxy()
	l := Left{Streams: proxy.Streams(), Held: int64(s.held()), Tied: int64(s.parts.Here())}
	l.Requests = max(proxy.Serving()-l.Streams, 0)
	if s.connections != nil {
		l.Connections = s.connections.Open()
	}
	return l
}

// String says it in a line, for people.
func (l Left) String() string {
	return fmt.Sprintf("left: %d requests, %d streams, %d held calls, %d calls of this process alone, %d connections",
		l.Requests, l.Streams, l.Held, l.Tied, l.Connections)
}

func (s *Site) held() int {
	if tasks := s.tasks.Load(); tasks != nil {
		return tasks.Held()
	}
	return 0
}
