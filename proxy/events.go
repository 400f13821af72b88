package proxy

import (
	"bytes"
	"cmp"
	"io"
	"slices"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/routing"
)

// defaultKeepAlive is Endpoint.KeepAlive where that is 0.
const defaultKeepAlive = 15 * time.Second

// comment is what an idle event stream gets, so that nobody on the way takes it
// for dead.
var comment = []byte(":\n\n")

// stream is an event stream on its way to the client.
type stream struct {
	x       *request
	u       *routing.Upstream
	pieces  <-chan arrival
	next    chan<- struct{} // asks for the next piece; the last one is not valid any more
	between bool            // the client stands between two events
	event   int64           // bytes of the event under way
	gone    bool            // the client left; what comes is still recorded
	news    *sessionNews    // what berth itself has to say; nil: nothing
	resumes string          // the last event's id, from which the client can go on where the stream breaks; "": it cannot
}

// arrival is what one read of an event stream brought.
type arrival struct {
	piece exchange.Piece
	err   error
}

// relayEvents passes an event stream on, event by event, each flushed at once.
func (x *request) relayEvents(u *routing.Upstream, response *wire.Response) error {
	if err := x.bindSession(u, ""); err != nil {
		return err
	}
	if err := x.beginEvents(response); err != nil {
		return err
	}
	x.owed = debtOf(x.Message.Calls)
	pieces, next := readAhead(x.answerReader(exchange.EventStream, response))
	defer close(next)
	defer response.Body.Close() // frees a reader that waits, before it is told to end
	s := &stream{x: x, u: u, pieces: pieces, next: next, between: true, news: x.joinNews()}
	defer s.news.leave()
	return s.run()
}

// streamHeaders copies the headers of an upstream's event stream to the client.
func (x *request) streamHeaders(response *wire.Response) {
	x.inboundHeaders(response)
	x.w.Header().Del("Content-Length")
	x.w.Header().Set("X-Accel-Buffering", "no")
}

// ownStreamHeaders sets the headers of an event stream that berth itself begins.
func (x *request) ownStreamHeaders() {
	h := x.w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("Cache-Control", "no-cache")
	h.Set("X-Accel-Buffering", "no")
}

// readAhead reads pieces in a goroutine of its own, one for each word on next,
// until next is closed. A piece is valid until the next word. There is room for
// the one piece under way, so that the goroutine ends though nobody takes it.
func readAhead(reader *exchange.Reader) (<-chan arrival, chan<- struct{}) {
	pieces, next := make(chan arrival, 1), make(chan struct{}, 1)
	next <- struct{}{}
	go func() {
		for range next {
			piece, err := reader.Next()
			pieces <- arrival{piece, err}
		}
	}()
	return pieces, next
}

// run relays until the stream ends, the client is gone, or berth drains.
func (s *stream) run() error {
	interval := cmp.Or(s.x.Endpoint.KeepAlive, defaultKeepAlive)
	silence := time.NewTimer(interval)
	defer silence.Stop()
	for {
		select {
		case a := <-s.pieces:
			if done, err := s.take(a); done {
				return err
			}
			s.next <- struct{}{}
		case <-silence.C:
			if s.between {
				s.release(comment)
			}
		case <-s.x.stopgap.due():
			s.x.stopgap.beginProgress()
			continue // nothing was said
		case <-s.x.stopgap.beats():
			if s.between {
				s.release(s.x.stopgap.progress())
			}
		case own := <-s.news.next(s.between):
			s.release(own)
		case <-s.news.ended():
			return nil
		case <-s.x.endOfStanding():
			s.sayGoodbye()
			return nil
		case <-s.endOfOwing():
			s.refuseAll(fault.StreamShutdown)
			return nil
		}
		if s.gone && !s.x.readsOn() {
			return fault.ErrClientGone
		}
		silence.Reset(interval)
	}
}

// take records and releases one piece. done ends the stream.
func (s *stream) take(a arrival) (done bool, err error) {
	if a.err != nil {
		return true, s.breakOff(a.err)
	}
	if a.piece.Broken && s.owes() {
		if _, err := mcp.PeekAnswer(a.piece.Message, false); err != nil {
			return false, nil // the client is told in its place
		}
		// Only the empty line is missing: readers drop an event without it.
		a.piece.Raw, a.piece.Between = append(bytes.TrimRight(slices.Clone(a.piece.Raw), "\r\n"), "\n\n"...), true
	}
	if s.grow(len(a.piece.Raw), a.piece.Between) {
		switch {
		case s.owes():
			s.refuseAll(fault.AnswerTooLarge)
			return true, nil
		case s.between:
			s.refuse(fault.AnswerTooLarge)
			return true, nil
		}
		return true, fault.AnswerTooLarge
	}
	// What breaks off at the end of the stream is no event, and clients drop it.
	whole := a.piece.Between || a.piece.Cut
	says := s.x.peek(a.piece.Message, a.piece.Cut)
	instead, failure := s.x.observe(s.u, a.piece, says, whole && mcp.MayBeMessage(a.piece.Message) && s.x.MustBeClear())
	if failure != nil {
		s.refuse(failure)
		return true, nil
	}
	if instead != nil {
		s.release(event(instead))
		return true, nil
	}
	if id := a.piece.EventID(); id != "" && s.x.Era() == mcp.EraLegacy && !s.x.owed.isPaid() {
		s.resumes = id
	}
	s.x.stopgap.heed(a.piece, says)
	s.x.share(s.x.status, a.piece, says, false)
	raw := a.piece.Raw
	if s.between {
		raw = s.x.announcedEvent(a.piece, s.x.tagged(a.piece))
	}
	if s.between = a.piece.Between; s.between {
		s.x.owed.settle()
	}
	s.release(raw)
	return false, nil
}

// refuse puts an error in the place of an event.
func (s *stream) refuse(failure error) {
	s.x.err = failure
	answer := s.x.ladder(failure)
	s.x.code = answer.Code
	s.release(event(answer.Body(s.x.ID)))
}

// release hands bytes to the client, flushed.
func (s *stream) release(b []byte) {
	if s.gone {
		return
	}
	if s.x.write(b) != nil || s.x.flush() != nil {
		s.gone = true
	}
}

// event wraps a message as one event, with a data line for each of its own.
func event(message []byte) []byte {
	var out bytes.Buffer
	out.Grow(len("event: message\ndata: \n\n") + len(message))
	_ = writeEvent(&out, mcp.Parts{message}) // a buffer takes all
	return out.Bytes()
}

// textWriter is what events are written to.
type textWriter interface {
	io.Writer
	io.StringWriter
}

// writeEvent writes a message as one event, as event wraps it.
func writeEvent(out textWriter, message mcp.Parts) error {
	_, _ = out.WriteString("event: message") // what is wrong shows in the end
	ends := true                             // a line does, and the next one is not begun
	for _, part := range message {
		for len(part) > 0 {
			n := bytes.IndexAny(part, "\r\n")
			if n == 0 {
				ends, part = true, part[1:]
				continue
			}
			if n < 0 {
				n = len(part)
			}
			if ends {
				_, _ = out.WriteString("\ndata: ")
			}
			if _, err := out.Write(part[:n]); err != nil {
				return err
			}
			ends, part = false, part[n:]
		}
	}
	_, err := out.WriteString("\n\n")
	return err
}

// readsOn reports whether an answer is read to its end although its client does not
// take it.
func (x *request) readsOn() bool {
	return x.Era() == mcp.EraLegacy && x.HTTP.Method == wire.MethodPost || x.hasRiders()
}

// endOfStanding is closed when streams that never end by themselves are to end.
func (x *request) endOfStanding() <-chan struct{} {
	if x.Stands() {
		return x.p.end.draining
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
	s.release(event(mcp.SubscriptionEnd(c.ID)))
}
