package stdio

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// Instance is one upstream whose Options may change: it is run anew by those that are new, and what
// is in a session that it had before stays with the processes of before until that session ends. New
// makes a Server, NewInstance one of these; it implements exchange.Sender.
type Instance struct {
	mu      sync.Mutex // guards the fields below
	now     *running
	leaving []*running // by options of before, with sessions or, a moment ago, without
}

// running is a server and what it is run by.
type running struct {
	*Server
	by     Options
	unused bool // when it was last looked, as one that leaves
}

func run(o Options) *running { return &running{Server: New(o), by: o} }

// NewInstance returns an instance that runs nothing yet.
func NewInstance(o Options) *Instance { return &Instance{now: run(o)} }

// Change has the instance run by these options. Where they are what they were, nothing happens; a server
// that has not left yet stays.
func (i *Instance) Change(o Options) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.now.isBy(o) {
		return
	}
	i.now.Close()
	i.now.unused = false
	i.leaving = append(i.leaving, i.now)
	back := slices.IndexFunc(i.leaving, func(r *running) bool { return r.isBy(o) })
	if back < 0 {
		i.now = run(o)
		return
	}
	i.now = i.leaving[back]
	i.leaving = slices.Delete(i.leaving, back, back+1)
}

func (r *running) isBy(o Options) bool { return reflect.DeepEqual(r.by, o) }

// Send implements exchange.Sender.
func (i *Instance) Send(ctx context.Context, request *exchange.Request, wait time.Duration) (*wire.Response, error) {
	return i.serverOf(request.Header.Get(mcp.HeaderSession)).Send(ctx, request, wait)
}

// serverOf returns who has a session.
func (i *Instance) serverOf(session string) *Server {
	i.mu.Lock()
	defer i.mu.Unlock()
	if session != "" {
		for _, before := range i.leaving {
			if before.has(session) {
				return before.Server
			}
		}
	}
	return i.now.Server
}

// Close implements exchange.Sender: processes that have no session are stopped.
func (i *Instance) Close() {
	for _, s := range i.all() {
		s.Close()
	}
}

func (i *Instance) all() []*Server {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := []*Server{i.now.Server}
	for _, before := range i.leaving {
		all = append(all, before.Server)
	}
	return all
}

// lookEvery is how often it is looked for servers that have nothing left to do.
const lookEvery = time.Second

// Run stops servers of before when their last session has ended, until ctx ends. It returns nil.
func (i *Instance) Run(ctx context.Context) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
			for _, s := range i.done() {
				_ = s.Shutdown(ctx)
			}
		}
	}
}

// done takes those from the servers of before that have had no session left for a while: whoever was
// sent there may only just have opened one.
func (i *Instance) done() (done []*Server) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.leaving = slices.DeleteFunc(i.leaving, func(r *running) bool {
		unused := r.isUnused()
		over := unused && r.unused
		if r.unused = unused; over {
			done = append(done, r.Server)
		}
		return over
	})
	return done
}

// Drain waits until no call is in flight, or for the end of ctx. Nothing more should be sent.
func (i *Instance) Drain(ctx context.Context) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for i.InFlight() > 0 {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Shutdown is Server.Shutdown of all that the instance runs.
func (i *Instance) Shutdown(ctx context.Context) error {
	var ending sync.WaitGroup
	for _, s := range i.all() {
		ending.Go(func() { _ = s.Shutdown(ctx) })
	}
	ending.Wait()
	return context.Cause(ctx)
}

func (s *Server) has(session string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[session] != nil
}

// isUnused reports whether there is no session, and none is being opened.
func (s *Server) isUnused() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for p := range s.peers {
		if !p.isReady() {
			return false
		}
	}
	return len(s.sessions) == 0
}

// InFlight is Server.InFlight of all that the instance runs.
func (i *Instance) InFlight() (n int) {
	for _, s := range i.all() {
		n += s.InFlight()
	}
	return n
}

// Tied is Server.Tied of all that the instance runs.
func (i *Instance) Tied() (n int) {
	for _, s := range i.all() {
		n += s.Tied()
	}
	return n
}

// Revive is Server.Revive of what new sessions go to.
func (i *Instance) Revive(ctx context.Context) error { return i.newest().Revive(ctx) }

// Silence is Server.Silence of all that the instance runs.
func (i *Instance) Silence() string {
	var all []string
	for _, s := range i.all() {
		if silence := s.Silence(); silence != "" {
			all = append(all, silence)
		}
	}
	return strings.Join(all, "; ")
}

func (i *Instance) newest() *Server {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.now.Server
}
