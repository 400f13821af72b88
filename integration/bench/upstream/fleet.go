package upstream

import (
	"fmt"
	"net"
	"strings"
	"sync/atomic"
)

// Fleet is instances of one MCP server. Its methods may be called from any goroutine.
type Fleet struct {
	Instances []*Instance

	// made counts what instances have handed out, over all of them.
	made    atomic.Int64
	calls   atomic.Int64 // that were answered by a result
	held    atomic.Int64 // calls of Hold that run
	streams streams
}

// Instance is one server of the fleet.
type Instance struct {
	Name    string // begins the id of each task and session of its own
	Address string // host:port

	fleet            *Fleet
	polls, misrouted atomic.Int64
}

// Start starts one instance a name, on loopback. They run until the process ends.
func Start(names ...string) (*Fleet, error) {
	fleet := new(Fleet)
	for _, name := range names {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("upstream: %w", err)
		}
		instance := &Instance{Name: name, Address: listener.Addr().String(), fleet: fleet}
		fleet.Instances = append(fleet.Instances, instance)
		go instance.serve(listener)
	}
	return fleet, nil
}

// Polls are how many polls all instances had so far, and how many of them were for a task of another one.
func (f *Fleet) Polls() (all, misrouted int64) {
	for _, i := range f.Instances {
		all += i.polls.Load()
		misrouted += i.misrouted.Load()
	}
	return all, misrouted
}

// Calls are how many calls of Echo and Report all instances have answered so far.
func (f *Fleet) Calls() int { return int(f.calls.Load()) }

// Held are how many calls of Hold run.
func (f *Fleet) Held() int { return int(f.held.Load()) }

func (i *Instance) serve(listener net.Listener) {
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		go i.talk(conn)
	}
}

// newID is an id, of a task or session of this instance, as long as a UUID.
func (i *Instance) newID() string {
	return fmt.Sprintf("%s-%034x", i.Name, i.fleet.made.Add(1))
}

func (i *Instance) owns(id string) bool { return strings.HasPrefix(id, i.Name+"-") }

func (i *Instance) countPoll(id string) {
	i.polls.Add(1)
	if !i.owns(id) {
		i.misrouted.Add(1)
	}
}
