package redis

import (
	"errors"
	"runtime"
	"sync"
	"time"

	"berth/internal/storage/engine"

	"github.com/redis/go-redis/v9"
)

const (
	// mostLanes are the connections that trips have: with fewer, 8 callers wait for each other; with more, those who
	// are many do not come together.
	mostLanes = 4

	// mostAboard bounds what is on its way by trips, as connections bound what goes by itself.
	mostAboard = 64

	// MostCargo is the longest value that goes by a trip: others would wait for it.
	MostCargo = 16 << 10
)

// errStranded says that a trip ended by a panic.
var errStranded = errors.New("storage: the pipeline did not end")

// trips carry commands to one server: those of one moment together, in one pipeline, on one of a few connections.
// Nobody waits for others to come: who asks while no lane is free goes with the next trip, and where others ask as well, who is
// runnable in the moment in which one begins comes along. Each command has its own answer. A trip lasts as long as an operation may,
// and is waited for by those that board the next one; by who has not that much time as hurry.go says.
type trips struct {
	client   *redis.Client
	tap      *tap
	bound    time.Duration // of a trip
	timeout  time.Duration // for an answer
	least    time.Duration // that is left to who boards
	lifetime time.Duration // of a connection; 0: as long as it stands

	mu      sync.Mutex // guards the fields below
	lanes   []lane
	several bool // the trip that began last has several aboard
}

// lane makes one trip at a time.
type lane struct {
	number int
	state  laneState
	yields bool         // whoever leads lets others run first; else nobody seems to be about to ask
	link   *link        // of whoever leads; nil: there is none yet
	aboard []*passenger // of the next trip
	spare  []*passenger // memory of the one before
}

type laneState uint8

const (
	idle     laneState = iota
	boarding           // its leader is about to go
	underWay
)

// passenger is a command on its way.
type passenger struct {
	request  request
	answer   response
	answered bool
	err      error       // why there is no answer
	arrived  chan bool   // true: it is to lead the lane's next trip
	end      time.Time   // when its caller leaves; zero: not before the trip has ended
	alarm    *time.Timer // of its end; nil: there was none yet
	left     bool        // its caller has: the trip still has it

	wait *redis.IntCmd // how many replicas have what was written; nil: nobody asked
}

var passengers = sync.Pool{New: func() any { return &passenger{arrived: make(chan bool, 1)} }}

// letGo ends the use of p, which keeps nothing of it but room.
func (p *passenger) letGo() {
	if p.left || cap(p.request) > mostRoom || cap(p.answer.text) > mostRoom {
		return
	}
	p.answered, p.err, p.wait = false, nil, nil
	passengers.Put(p)
}

// spareConnections are left to what takes no turn: probes, echoes, the question for the
// server's policy.
const spareConnections = 2

// lanesOf is how many of a server's connections trips have. They keep them, so that of a few they have none.
func lanesOf(connections int) int {
	if connections <= spareConnections {
		return 0
	}
	return min(max((connections-spareConnections)/2, 1), mostLanes)
}

func newTrips(client *redis.Client, lanes int, bound time.Duration) *trips {
	o := client.Options()
	t := &trips{client: client, tap: newTap(client), bound: bound, timeout: o.ReadTimeout, lifetime: o.ConnMaxLifetime, lanes: make([]lane, lanes)}
	t.least = t.timeout - t.timeout/tolerance
	for i := range t.lanes {
		t.lanes[i].number = i
	}
	return t
}

// carry returns once p has its answer, or why it has none, and whether an error that is no answer is for this caller to
// tell: of those that one trip has lost, one is.
func (t *trips) carry(p *passenger) (tells bool, err error) {
	p.answered, p.err = false, nil
	on, leads := t.board(p)
	switch {
	case !leads:
		if leads, err = t.await(on, p); err != nil {
			return true, err
		}
	case on.yields:
		runtime.Gosched() // who is about to ask comes along
	}
	if leads && !t.mayLead(on, p) {
		t.stepOff(on, p, leads)
		return true, engine.ErrAshore
	}
	if leads {
		t.lead(on, p)
	}
	if p.answered {
		return leads, p.answer.refused()
	}
	return leads || p.err == engine.ErrAshore, p.err
}

// board takes p aboard of a lane: one that is about to go, or is free, or has the fewest aboard.
func (t *trips) board(p *passenger) (on *lane, leads bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	on = &t.lanes[0]
	yields := t.several
	for i := range t.lanes {
		l := &t.lanes[i]
		yields = yields || l.state == underWay
		switch {
		case l.state == boarding:
			l.aboard = append(l.aboard, p)
			return l, false
		case l.state < on.state, l.state == on.state && len(l.aboard) < len(on.aboard):
			on = l
		}
	}
	if leads = on.state == idle; leads {
		on.state, on.yields = boarding, yields
	}
	on.aboard = append(on.aboard, p)
	return on, leads
}

// lead makes the lane's next trip, with own among those aboard.
func (t *trips) lead(on *lane, own *passenger) {
	by := t.standing(on, time.Now())
	t.mu.Lock()
	if by == nil {
		on.setAshore(own)
	}
	aboard := on.aboard
	on.aboard, on.spare = on.spare, nil
	on.state = underWay
	t.several = len(aboard) > 1
	t.mu.Unlock()
	err := errStranded
	defer func() {
		for _, p := range aboard {
			if !p.answered {
				p.err = err
			}
		}
		t.leave(on, aboard, own)
	}()
	err = t.send(on, by, aboard, own.end)
}

// send makes the trip, which has an end unless that is zero, by a connection; nil: by a new one. One by which a trip did not end
// well is not used again.
func (t *trips) send(on *lane, by *link, aboard []*passenger, end time.Time) (err error) {
	if by == nil {
		if by, err = t.newLink(on.number, time.Now()); err != nil {
			return err
		}
	}
	on.link = nil
	sound := false
	defer func() {
		if sound {
			on.link = by
		} else {
			by.leave()
		}
	}()
	if err = by.endBy(end); err == nil {
		err = by.exchange(aboard)
	}
	sound = err == nil && !astray(aboard)
	return err
}

// standing is the lane's connection, which is left if it is not fit; nil: there is none.
func (t *trips) standing(on *lane, now time.Time) *link {
	by := on.link
	if by != nil && !by.fit(now, t.lifetime) {
		on.link = nil
		by.leave()
	}
	return on.link
}

// pass has the next one lead, if there is one. It is called with the lock held.
func (l *lane) pass() {
	if len(l.aboard) > 0 {
		l.aboard[0].arrived <- true
	} else {
		l.state = idle
	}
}

// leave passes the lane on, and lets those go who have arrived.
func (t *trips) leave(on *lane, aboard []*passenger, own *passenger) {
	t.mu.Lock()
	on.pass()
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
