package proxy

import (
	"bytes"
	"io"
	"slices"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/course"
	"berth/proxy/fault"
	"berth/proxy/inbound"
	"berth/proxy/polls"
	"berth/proxy/reply"
	"berth/proxy/sessiontasks"
	"berth/proxy/standing"
	"berth/routing"
)

// stream is an event stream on its way to the client.
type stream struct {
	x       *request
	u       *routing.Upstream
	body    io.Closer        // the upstream's; its end ends the reading
	lease   *routing.Lease   // of u, where it is given back with the stream; nil: somebody else does
	reader  *exchange.Reader // of the reading goroutine; while that waits for next, of this one
	pieces  <-chan *arrival
	next    chan<- struct{}        // asks for the next piece; the last one is not valid any more
	between bool                   // the client stands between two events
	event   int64                  // bytes of the event under way
	more    bool                   // what comes next was read already: it is flushed with that
	unsent  bool                   // something was not flushed
	gone    bool                   // the client left; what comes is still recorded
	news    *sessiontasks.Notifier // what berth itself has to say; nil: nothing
	stands  *standing.Stream       // for operators; nil: it ends by itself
	silence *reply.KeepAlive       // while it is relayed
	leaves  <-chan struct{}        // closed when its session is to leave the upstream; nil: it is not
	stay    func()                 // ends the watch for that
	drops   bool                   // the event under way is another request's answer, and nobody gets it
	resumes string                 // the last event's id, from which the client can go on where the stream breaks; "": it cannot
}

// arrival is what one read of an event stream brought.
type arrival struct {
	piece exchange.Piece
	err   error
}

// relayEvents passes an event stream on, event by event. Those that came together are flushed
// together: nothing waits for what the upstream has not sent. A session's stream is only begun: it is
// stood by once the steps before it have returned.
func (x *request) relayEvents(u *routing.Upstream, response *wire.Response) error {
	s, err := x.beginStream(u, response)
	if err != nil {
		return err
	}
	if s.stands != nil {
		x.standing = s
		return nil
	}
	return s.relay()
}

// beginStream begins an event stream at the client.
func (x *request) beginStream(u *routing.Upstream, response *wire.Response) (*stream, error) {
	way := x.Way()
	if err := x.recorder.BindSession(way, u, "", x.announced.Promised()); err != nil {
		return nil, err
	}
	if err := beginEvents(way, x.out, response); err != nil && !readsOn(x.Call, x.poll) {
		return nil, err
	}
	x.owed = debtOf(x.Message.Calls)
	if x.HTTP.Method == wire.MethodGet && x.p.sessions.MayHold(way, &x.Decision) {
		x.Keep() // what berth says there is for all streams of the session
		way = x.Way()
	}
	x.memory.reader = exchange.Reader{} // with what it holds for answers in one piece
	s := &stream{x: x, u: u, body: response.Body, reader: &x.memory.reader, between: true, news: x.p.sessions.Join(way, &x.Decision)}
	x.announced.Read(s.reader, exchange.EventStream, response)
	if x.Stands && x.Single() == nil {
		s.stands = x.p.standing.Begin(standing.Of(x.Call, standing.Session))
		s.stands.Hears(u.Name)
	}
	return s, nil
}

// relay runs the stream to its end. What has to end with it stands in s: on the stack, of which there are thousands, it
// would take more.
func (s *stream) relay() error {
	s.pieces, s.next = readAhead(s.reader)
	s.silence = s.x.out.NewKeepAlive()
	defer s.end()
	s.leaves, s.stay = s.leaving()
	return s.run()
}

// end lets go of what the stream holds. The body's end frees a reader that waits, before that is told to
// end.
func (s *stream) end() {
	s.stay()
	if s.next != nil {
		s.silence.Stop()
		defer close(s.next)
	}
	s.stands.End()
	s.news.Leave()
	_ = s.body.Close()
	if s.lease != nil {
		s.lease.Release()
	}
}

// readAhead reads pieces in a goroutine of its own, one for each word on next,
// until next is closed. What arrived is valid until the next word. There is room for
// the one piece under way, so that the goroutine ends though nobody takes it.
func readAhead(reader *exchange.Reader) (<-chan *arrival, chan<- struct{}) {
	pieces, next := make(chan *arrival, 1), make(chan struct{}, 1)
	next <- struct{}{}
	go func() {
		a := new(arrival) // not on the stack, of which there are thousands
		for range next {
			a.piece, a.err = reader.Next()
			pieces <- a
		}
	}()
	return pieces, next
}

// run relays until the stream ends, the client is gone, or berth drains.
func (s *stream) run() error {
	for {
		select {
		case a := <-s.pieces:
			if done, err := s.takeAll(a); done {
				return err
			}
			s.next <- struct{}{}
		case <-s.silence.Due():
			if s.between {
				s.release(reply.Comment)
			}
		case <-s.x.out.Early.Due():
			s.x.out.Early.BeginProgress()
			continue // nothing was said
		case <-s.x.out.Early.ProgressDue():
			if s.between {
				s.release(s.x.out.Early.Progress())
			}
		case own := <-s.news.Next(s.between):
			s.release(own)
		case <-s.news.Ended():
			return nil
		case <-s.endOfStanding():
			s.sayGoodbye()
			return nil
		case <-s.leaves:
			return nil // its client comes back, and takes the session along
		case <-s.endOfOwing():
			s.refuseAll(fault.StreamShutdown)
			return nil
		}
		if s.gone && !readsOn(s.x.Call, s.x.poll) {
			return fault.ErrClientGone
		}
		s.silence.Said()
	}
}

// take records and releases one piece. done ends the stream.
func (s *stream) take(a *arrival) (done bool, err error) {
	if a.err != nil {
		return true, s.breakOff(a.err)
	}
	if a.piece.Broken && s.owes() && !endEvent(&a.piece) {
		return false, nil // the client is told in its place
	}
	// What breaks off at the end of the stream is no event, and clients drop it.
	whole := a.piece.Between || a.piece.Cut
	var says peeked
	says.peek(s.x.Call, a.piece.Message, a.piece.Cut)
	another := says.isAnothers(s.x.Call)
	if s.passesOver(&a.piece, another) || s.takeOutOthers(&a.piece) {
		return false, nil
	}
	if s.grow(len(a.piece.Raw), a.piece.Between) {
		return true, s.refuseLarge(&says)
	}
	if says.Method == "" && len(a.piece.Message) > 0 || s.x.Drafts {
		s.flush() // to record what it tells may take its time
	}
	var instead []byte
	var failure error
	if !says.isMute(s.x.Call, another) {
		instead, failure = s.x.observe(s.u, &a.piece, &says, whole && s.x.MustBeClear && mcp.MayBeMessage(a.piece.Message))
	}
	if failure != nil {
		s.withhold(failure, says.responseID())
		return true, nil
	}
	if instead != nil {
		s.release(reply.Event(instead))
		return true, nil
	}
	s.releasePiece(&a.piece, &says)
	return false, nil
}

// endEvent has an event that its upstream broke off before the empty line end with it, since readers drop an event without one. It
// reports whether the event is a whole message.
func endEvent(piece *exchange.Piece) bool {
	if _, err := mcp.PeekAnswer(piece.Message, false); err != nil {
		return false
	}
	piece.Raw, piece.Between = append(bytes.TrimRight(slices.Clone(piece.Raw), "\r\n"), "\n\n"...), true
	return true
}

// refuseLarge ends the stream at an event that is too large, which says what was read of it.
func (s *stream) refuseLarge(says *peeked) error {
	switch {
	case s.owes():
		s.refuseAll(fault.AnswerTooLarge)
		return nil
	case s.between:
		s.refuse(fault.AnswerTooLarge, says.responseID())
		return nil
	}
	return fault.AnswerTooLarge
}

// releasePiece releases a piece that is recorded: to the client, and to those who share its poll.
func (s *stream) releasePiece(piece *exchange.Piece, says *peeked) {
	s.x.owed.readLong(piece, &says.Answer)
	if !s.x.owed.isPaid() && s.x.Era() == mcp.EraLegacy && !course.HasLeft(&s.x.Decision) {
		s.noteEvent(piece.EventID())
	}
	s.x.poll.Complete(&polls.Response{Status: s.x.out.Status, Header: s.x.out.Header(), Message: piece.Message, Cut: piece.Cut, Says: &says.Answer, Illegal: says.err})
	raw := piece.Raw
	if s.between {
		raw = s.x.announced.Event(*piece, s.x.Way().Tagged(*piece))
		raw = s.x.out.Early.Event(*piece, &says.Answer, raw)
	}
	if s.between = piece.Between; s.between {
		s.x.owed.settle()
		s.stands.Sent()
	}
	s.release(raw)
	if s.x.owed.isPaid() {
		s.x.out.HasAll()
	}
}

// grow counts bytes of the event under way. tooLarge says that it may not go on.
func (s *stream) grow(n int, ends bool) (tooLarge bool) {
	s.event += int64(n)
	tooLarge = s.x.out.TooLarge(s.event)
	if ends {
		s.event = 0
	}
	return tooLarge
}

// noteEvent notes from which event the client may go on.
func (s *stream) noteEvent(id string) {
	if id == "" {
		return
	}
	if s.resumes = id; s.x.reads == nil || s.gone {
		return
	}
	if s.x.Alias != "" {
		id = s.x.Way().Tag() + id
	}
	s.x.reads.Tell(id)
}

// withhold ends the stream with an error in the place of an event, which is the response with this id, and of all that is owed.
func (s *stream) withhold(failure error, id []byte) {
	if s.x.owed.isPaid() {
		s.refuse(failure, id)
	} else {
		s.refuseAll(failure)
	}
}

// refuse puts an error in the place of an event. id is that of the response in it, nil: it is none; of a call's own stream the call's counts.
func (s *stream) refuse(failure error, id []byte) {
	if s.x.ID != nil {
		id = s.x.ID
	}
	s.x.rec.Err = failure
	answer := s.x.Word(failure)
	s.x.rec.Code = answer.Code
	s.release(reply.Event(answer.Body(id)))
}

// readsOn reports whether an answer is read to its end although its client does not
// take it.
func readsOn(c *inbound.Call, poll *polls.Poll) bool {
	return c.Era() == mcp.EraLegacy && c.HTTP.Method == wire.MethodPost || poll.Awaited()
}

// endOfStanding is closed when streams that never end by themselves are to end.
func (s *stream) endOfStanding() <-chan struct{} {
	if s.x.Stands {
		return s.x.p.end.draining
	}
	return nil
}

// sayGoodbye ends a subscription gracefully: its completion result tells the
// client that nothing broke (2026-07-28, subscriptions, "Graceful Closure").
func (s *stream) sayGoodbye() {
	c := s.x.Single()
	if c == nil || !s.between {
		return
	}
	s.release(reply.Event(mcp.SubscriptionEnd(c.ID)))
}
