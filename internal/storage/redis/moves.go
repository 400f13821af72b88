package redis

import (
	"context"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// moves tells when another server comes to serve as master. The driver hears one sentinel, and the one that leads a fail-over names the
// new master to those who listen only when it is done with all replicas: until then the former one takes writes that are lost. So all
// sentinels are followed, and the first that names another has the driver ask.
type moves struct {
	client *redis.Client
	ask    redis.Options // of a sentinel, but for its address
	among  []string      // the sentinels
	name   string        // of the master
	bound  time.Duration // of a question

	mu     sync.Mutex // guards the fields below
	moved  func()     // nil: nobody wants to know
	named  string     // by a sentinel, last
	dialed string     // the server that was connected to last
}

// newMoves returns those of a client whose master sentinels name.
func newMoves(client *redis.Client, o *redis.UniversalOptions, bound time.Duration) *moves {
	ask := *o.Simple()
	ask.Username, ask.Password, ask.DB = o.SentinelUsername, o.SentinelPassword, 0
	m := &moves{client: client, ask: ask, among: o.Addrs, name: o.MasterName, bound: bound}
	client.AddHook(m)
	return m
}

// Moves implements engine.Mover.
func (r *single) Moves(ctx context.Context, moved func()) {
	m := r.moves
	if m == nil {
		return
	}
	m.mu.Lock()
	m.moved = moved
	m.mu.Unlock()
	var following sync.WaitGroup
	for _, sentinel := range m.among {
		following.Go(func() { m.follow(ctx, sentinel) })
	}
	following.Wait()
}

const (
	switchMaster = "+switch-master" // NAME, and host and port of the former one and of the new one

	// askEvery is how often a sentinel is asked which says nothing: what it said may have been missed.
	askEvery = time.Second
)

// follow asks a sentinel, and listens to it, until ctx ends.
func (m *moves) follow(ctx context.Context, sentinel string) {
	options := m.ask
	options.Addr = sentinel
	client := redis.NewSentinelClient(&options)
	defer client.Close()
	master := ""
	for ctx.Err() == nil {
		m.listen(ctx, client, &master)
		select {
		case <-ctx.Done():
		case <-time.After(askEvery):
		}
	}
}

// listen listens until the connection is no good any more. master is what the sentinel has named last; "": none.
func (m *moves) listen(ctx context.Context, sentinel *redis.SentinelClient, master *string) {
	if !m.question(ctx, sentinel, master) {
		return
	}
	subscription := sentinel.Subscribe(ctx, switchMaster)
	defer subscription.Close()
	defer context.AfterFunc(ctx, func() { _ = subscription.Close() })() // the driver's reads heed deadlines, not cancellations
	for {
		said, err := subscription.ReceiveTimeout(ctx, askEvery)
		switch message, ok := said.(*redis.Message); {
		case ok:
			if words := strings.Fields(message.Payload); len(words) == 5 && words[0] == m.name {
				m.names(ctx, master, net.JoinHostPort(words[3], words[4]))
			}
		case err != nil && (!isTimeout(err) || !m.question(ctx, sentinel, master)):
			return
		}
	}
}

// question asks a sentinel which the master is, and reports whether it answered.
func (m *moves) question(ctx context.Context, sentinel *redis.SentinelClient, master *string) bool {
	bounded, cancel := context.WithTimeout(ctx, m.bound)
	defer cancel()
	address, err := sentinel.GetMasterAddrByName(bounded, m.name).Result()
	if err == nil && len(address) == 2 {
		m.names(ctx, master, net.JoinHostPort(address[0], address[1]))
	}
	return err == nil || isAnswer(err)
}

// names takes in which master a sentinel names, that named another one before.
func (m *moves) names(ctx context.Context, before *string, master string) {
	former := *before
	*before = master
	if former == "" || former == master || !m.turn(&m.named, master) {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, m.bound)
	defer cancel()
	// The driver asks for the master as it makes a connection, and leaves those to another one.
	if conn, err := m.client.Options().Dialer(bounded, "tcp", ""); err == nil {
		_ = conn.Close()
	}
}

// turn notes a server where the last one is kept, and reports whether it is another; then it tells.
func (m *moves) turn(last *string, server string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if *last == server {
		return false
	}
	*last = server
	if m.moved != nil {
		m.moved()
	}
	return true
}

// DialHook implements redis.Hook: it tells before anything is asked of another server.
func (m *moves) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := next(ctx, network, address)
		if err == nil {
			m.connected(conn.RemoteAddr().String())
		}
		return conn, err
	}
}

func (m *moves) connected(server string) {
	m.mu.Lock()
	first := m.dialed == ""
	if first {
		m.dialed = server
	}
	m.mu.Unlock()
	if !first {
		m.turn(&m.dialed, server)
	}
}

// ProcessHook implements redis.Hook.
func (*moves) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook implements redis.Hook.
func (*moves) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
