package stdio

import (
	"cmp"
	"sync/atomic"
	"time"

	"berth/internal/mcp"
	"berth/internal/stdio/process"
)

// peer is a process as those have it who speak to it. The server's mutex guards it, but for what
// stands before ready is closed and stays.
type peer struct {
	server *Server
	key    string // of the sessions that may share it; "": it is one session's
	caller string // whose it is
	wished string // in Server.spares, while it waits there for whoever asks that again
	alone  bool   // it serves one call
	trial  bool   // it shows whether the command starts, and serves nobody

	ready   chan struct{} // closed when it is initialised, or is not going to be
	opening []byte        // the initialize that it gets
	result  []byte        // what it answered to that
	refusal []byte        // or its error
	failure *mcp.Error    // or what became of it
	version string        // of the protocol, as negotiated

	quit     chan struct{}    // closed when it is to be stopped
	process  *process.Process // nil before its start
	calls    byNumber
	next     int64    // number of the last call
	tasks    byNumber // that have made a task
	sessions map[*session]struct{}
	opens    int  // sessions that are to be opened in it
	told     bool // it got notifications/initialized
	answered bool // initialize
	worked   bool // it has answered a client
	stopping bool
	over     bool
	begun    time.Time
	touched  time.Time // when its last session ended; before that when it was ready
	odd      oddities
	left     leftCalls

	heard  atomic.Int64 // when it last wrote to stdout, in nanoseconds since begun
	sign   *call        // by which it is asked for a sign of life; nil: it is not
	silent bool         // it gave none
}

// newPeer begins to start a process. opening is the initialize that it gets. place is closed when the process has ended that makes room
// for it; nil: there is some.
func (s *Server) newPeer(opening []byte, place <-chan struct{}) (*peer, *mcp.Error) {
	if refused := s.noRoom(); refused != nil && place == nil {
		return nil, refused
	}
	wait, ok := s.breaker.admit(time.Now())
	if !ok {
		s.breaker.keepsDying()
		return nil, unavailable("the process died several times in a row; the last time: "+s.breaker.told, ReasonCrashLoop, wait)
	}
	return s.begin(opening, wait, place), nil
}

// noRoom says what keeps any process from being started; nil: nothing does.
func (s *Server) noRoom() *mcp.Error {
	switch {
	case s.closing:
		return errDraining
	case len(s.peers) >= s.options.MaxProcesses:
		return unavailable("as many processes run as may", ReasonTooManyProcesses, time.Second)
	}
	return nil
}

// begin begins to start a process, after a pause, in a place as newPeer has it.
func (s *Server) begin(opening []byte, pause time.Duration, place <-chan struct{}) *peer {
	now := time.Now()
	p := &peer{
		server: s, ready: make(chan struct{}), opening: opening, quit: make(chan struct{}), calls: map[int64]*call{},
		tasks: map[int64]*call{}, sessions: map[*session]struct{}{}, begun: now, touched: now, odd: oddities{},
	}
	s.peers[p] = struct{}{}
	s.keepSweeping()
	go p.open(pause, place)
	return p
}

// primes reports whether streams begin with an event without data: clients of older versions may
// take it for a message (2025-11-25, changelog).
func primes(version string) bool { return version >= mcp.VersionCoreTasks }

func (p *peer) isReady() bool {
	select {
	case <-p.ready:
		return true
	default:
		return false
	}
}

// isOld reports whether the process takes no new session.
func (p *peer) isOld(now time.Time) bool {
	most := p.server.options.MaxLife
	return most > 0 && now.Sub(p.begun) > most
}

// push sends the process a message of a session, nil: of berth's own, and waits for nothing. Where several callers share the process none
// may fill what waits for it to read: it is ended once that is full, and not read.
func (p *peer) push(of *session, message []byte) error {
	if p.process == nil {
		return process.ErrEnding
	}
	by, most := "", process.MaxQueued
	if of != nil {
		by = cmp.Or(of.caller, of.id)
		if p.server.options.Isolation == IsolateAll && haveOthers(p.sessions, of) {
			most /= 2
		}
	}
	return p.process.Push(oneLine(message), by, most)
}

// haveOthers reports whether there are sessions of others than this one's caller.
func haveOthers(sessions map[*session]struct{}, own *session) bool {
	for other := range sessions {
		if other != own && (other.caller == "" || other.caller != own.caller) {
			return true
		}
	}
	return false
}

// initialize tells the process, once, that its client is ready.
func (p *peer) initialize() {
	if !p.told {
		p.told = true
		p.push(nil, []byte(`{"jsonrpc":"2.0","method":"`+mcp.MethodInitialized+`"}`))
	}
}

// stop ends the process, politely. Its sessions are gone at once; its calls, when it is.
func (p *peer) stop(cause string) {
	if p.stopping || p.over {
		return
	}
	p.stopping = true
	p.unlist()
	for session := range p.sessions {
		p.server.forgetSession(session)
	}
	close(p.quit)
	if p.process != nil {
		p.process.Stop(cause)
	}
}

// unlist takes the process out of where new sessions look for one.
func (p *peer) unlist() {
	if p.server.spares[p.wished] == p {
		delete(p.server.spares, p.wished)
	}
}

// end notes that the process is gone, or was not started, and fails what was in flight.
func (p *peer) end(failure *mcp.Error) {
	p.over = true
	p.unlist()
	for session := range p.sessions {
		p.server.forgetSession(session)
	}
	p.failCalls(failure)
	if delete(p.server.peers, p); p.server.closing && len(p.server.peers) == 0 {
		close(p.server.empty)
	}
}

func (p *peer) failCalls(failure *mcp.Error) {
	for _, c := range p.calls {
		if c.session != nil {
			p.forget(c)
			c.lost = c.answer != nil && onlyReads(c.method) && failure.Outcome == mcp.Unknown
			c.deliver(failure.Body(c.id))
		}
	}
}

// oddities are the kinds of what was seen of a process that is not as it should be.
type oddities map[string]bool

// isNew reports whether a kind is seen for the first time.
func (o oddities) isNew(kind string) bool {
	seen := o[kind]
	o[kind] = true
	return !seen
}
