package stdio

import (
	"context"
	"slices"
	"strconv"
	"time"

	"berth/internal/mcp"
)

// What a session remembers of streams that have ended.
const (
	maxKept      = 64
	maxKeptBytes = 4 << 20
)

// session is what a client calls one. The server's mutex guards it.
type session struct {
	id         string
	caller     string // who opened it
	peer       *peer
	standing   *stream
	streams    map[string]*stream // of requests
	kept       []*stream          // of those, the ones that may have ended, oldest first
	made       int                // streams
	subscribed map[string]bool    // URIs of resources
	level      string             // of logs; "": none was set
	calls      map[*call]struct{} // in flight
	asks       map[int64]*ask     // open questions to the client
	touched    time.Time          // when the client last said something
	over       bool
}

func (s *Server) newSession(p *peer, caller string) *session {
	session := &session{
		id: s.options.newID(), caller: caller, peer: p, standing: newStream("g"), streams: map[string]*stream{},
		subscribed: map[string]bool{}, asks: map[int64]*ask{}, calls: map[*call]struct{}{}, touched: time.Now(),
	}
	s.sessions[session.id] = session
	p.sessions[session] = struct{}{}
	return session
}

// newStream returns the stream of so many requests.
func (s *session) newStream(requests int) *stream {
	s.made++
	st := newStream("r" + strconv.Itoa(s.made))
	st.pending = requests
	if primes(s.peer.version) {
		st.prime()
	}
	s.streams[st.name] = st
	s.kept = append(s.kept, st)
	return st
}

func (s *session) drop(st *stream) {
	delete(s.streams, st.name)
	s.kept = slices.DeleteFunc(s.kept, func(other *stream) bool { return other == st })
}

// resume goes on with the stream of the event last seen.
func (s *session) resume(ctx context.Context, last string) (*streamReader, error) {
	name, number, ok := parseEventID(last)
	st := s.streams[name]
	if name == s.standing.name {
		st = s.standing
	}
	switch {
	case !ok || st == nil:
		return nil, errUnknownEvent
	case st != s.standing && st.endsWith(number):
		return nil, errStreamOver
	}
	return st.read(ctx, number)
}

// forgetStreams lets go of streams that ended before this time, and of the oldest while they take
// too much: those first that were handed out to their end.
func (s *session) forgetStreams(before time.Time) {
	var done, undone []*stream
	bytes := 0
	for _, st := range slices.Clone(s.kept) {
		size, read, _, ended, told := st.state()
		switch {
		case ended.IsZero() || read:
			continue
		case ended.Before(before):
			s.drop(st)
			continue
		case told:
			done = append(done, st)
		default:
			undone = append(undone, st)
		}
		bytes += size
	}
	count := len(done) + len(undone)
	for _, st := range append(done, undone...) {
		if count <= maxKept && bytes <= maxKeptBytes {
			return
		}
		size, _, _, _, _ := st.state()
		count, bytes = count-1, bytes-size
		s.drop(st)
	}
}

// endSession ends a session as its client wishes.
func (s *Server) endSession(session *session) {
	for c := range session.calls {
		if !c.cancelled {
			c.peer.left.add(c, time.Now().Add(s.timing.left))
			c.peer.push(nil, mcp.Cancelled(number(c.number), "the client has ended its session"))
		}
		c.peer.finish(c, failed("the client has ended its session", ReasonSessionEnded, mcp.Unknown).Body(c.id))
	}
	for _, a := range session.asks {
		a.peer.refuse(a.id, "the client has ended its session")
	}
	p := session.peer
	s.forgetSession(session)
	if p.touched = time.Now(); p.key == "" {
		p.stop("its session has ended")
	}
}

// forgetSession answers 404 to a session from now on.
func (s *Server) forgetSession(session *session) {
	session.over, session.asks = true, nil
	delete(s.sessions, session.id)
	delete(session.peer.sessions, session)
	session.standing.end()
}
