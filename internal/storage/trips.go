package storage

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// mostLanes are the connections that trips have: with fewer, 8 callers wait for each other; with more, those who
	// are many do not come together.
	mostLanes = 4

	// mostAboard bounds what is on its way by trips, as connections bound what goes by itself.
	mostAboard = 64

	// mostCargo is the longest value that goes by a trip: others would wait for it.
	mostCargo = 16 << 10
)

// errStranded says that a trip ended by a panic.
var errStranded = errors.New("storage: the pipeline did not end")

// trips carry commands to one server: those of one moment together, in one pipeline, on one of a few connections.
// Nobody waits for others to come: who asks while no lane is free goes with the next trip, and who is runnable in the
// moment in which one begins comes along. Each command has its own answer. A trip lasts as long as an operation may,
// and is waited for by those that board the next one.
type trips struct {
	client *redis.Client
	bound  time.Duration // of a trip

	mu    sync.Mutex // guards the field below
	lanes []lane
}

// lane makes one trip at a time.
type lane struct {
	state  laneState
	aboard []*passenger // of the next trip
	spare  []*passenger // memory of the one before
}

type laneState uint8

const (
	idle     laneState = iota
	boarding           // its leader lets others run before it goes
	underWay
)

// passenger is a command on its way.
type passenger struct {
	cmd     redis.Cmder
	arrived chan bool // true: it is to lead the lane's next trip
}

var passengers = sync.Pool{New: func() any { return &passenger{arrived: make(chan bool, 1)} }}

// lanesOf is how many of a server's connections trips have.
func lanesOf(connections int) int { return min(max((connections-spareConnections)/2, 1), mostLanes) }

func newTrips(client *redis.Client, connections int, bound time.Duration) *trips {
	return &trips{client: client, bound: bound, lanes: make([]lane, lanesOf(connections))}
}

// carry returns once cmd has its answer, and whether an error that is no answer is for this caller to tell: of those
// that one trip has lost, one is.
func (t *trips) carry(cmd redis.Cmder) (tells bool, err error) {
	p := passengers.Get().(*passenger)
	p.cmd = cmd
	on, leads := t.board(p)
	if leads {
		runtime.Gosched() // who is about to ask comes along
	} else {
		leads = <-p.arrived
	}
	if leads {
		t.lead(on, p)
	}
	p.cmd = nil
	passengers.Put(p)
	return leads, cmd.Err()
}

// board takes p aboard of a lane: one that is about to go, or is free, or has the fewest aboard.
func (t *trips) board(p *passenger) (on *lane, leads bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	on = &t.lanes[0]
	for i := range t.lanes {
		switch l := &t.lanes[i]; {
		case l.state == boarding:
			l.aboard = append(l.aboard, p)
			return l, false
		case l.state < on.state, l.state == on.state && len(l.aboard) < len(on.aboard):
			on = l
		}
	}
	if leads = on.state == idle; leads {
		on.state = boarding
	}
	on.aboard = append(on.aboard, p)
	return on, leads
}

// lead makes the lane's next trip, with own among those aboard.
func (t *trips) lead(on *lane, own *passenger) {
	t.mu.Lock()
	aboard := on.aboard
	on.aboard, on.spare = on.spare, nil
	on.state = underWay
	t.mu.Unlock()
	whole := false
	defer func() {
		for _, p := range aboard {
			if !whole && p.cmd.Err() == nil {
				p.cmd.SetErr(errStranded)
			}
		}
		t.leave(on, aboard, own)
	}()
	t.send(aboard)
	whole = true
}

func (t *trips) send(aboard []*passenger) {
	ctx := within(t.bound)
	defer ctx.letGo()
	if len(aboard) == 1 {
		_ = t.client.Process(ctx, aboard[0].cmd)
		return
	}
	pipe := t.client.Pipeline()
	for _, p := range aboard {
		_ = pipe.Process(ctx, p.cmd)
	}
	_, _ = pipe.Exec(ctx) // each says itself how it went
}

// leave passes the lane on, and lets those go who have arrived.
func (t *trips) leave(on *lane, aboard []*passenger, own *passenger) {
	t.mu.Lock()
	if len(on.aboard) > 0 {
		on.aboard[0].arrived <- true
	} else {
		on.state = idle
	}
	t.mu.Unlock()
	for i, p := range aboard {
		if aboard[i] = nil; p != own {
			p.arrived <- false
		}
	}
	t.mu.Lock()
	on.spare = aboard[:0]
	t.mu.Unlock()
}
