package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/routing"
)

// errFeedEnded says that the upstream ended its subscription in order.
var errFeedEnded = errors.New("proxy: the upstream ended the subscription")

// refusedFeed is an upstream's answer to a subscription that is none. It is an error
// to whoever wanted one.
type refusedFeed struct {
	upstream *routing.Upstream
	response *http.Response // unread; nil if the refusal came as an event
	message  []byte         // the error response in that event
}

func (*refusedFeed) Error() string { return "proxy: the upstream refused the subscription" }

// drop ends the exchange of a refusal that nobody is told of.
func (r *refusedFeed) drop() {
	if r.response != nil {
		r.response.Body.Close()
	}
}

// passing reports whether the refusal says nothing about the subscription: that of a
// gateway whose server is away, of a server that has just begun, or has too much to do.
func (r *refusedFeed) passing() bool {
	if r.response == nil || r.response.StatusCode == http.StatusNotImplemented {
		return false
	}
	return r.response.StatusCode == http.StatusTooManyRequests || r.response.StatusCode/100 == 5
}

// maxRefusal bounds what is kept of a refusal that several are told of, in bytes.
const maxRefusal = 64 << 10

// repeat reads the refusal of a request of berth's own, as far as maxRefusal, and
// returns a function that tells it anew, to the request with this JSON-RPC id.
func (r *refusedFeed) repeat() func(id []byte) error {
	if r.response == nil {
		return func(id []byte) error { return &refusedFeed{upstream: r.upstream, message: inPlaceOfOwn(r.message, id)} }
	}
	defer r.drop()
	message, err := io.ReadAll(io.LimitReader(r.response.Body, maxRefusal))
	if err != nil {
		return func([]byte) error { return err }
	}
	return func(id []byte) error {
		body, response := message, *r.response
		if exchange.ShapeOf(r.response) == exchange.JSON {
			body = inPlaceOfOwn(message, id)
		}
		response.Header = r.response.Header.Clone()
		dropOneCallers(response.Header)
		response.Header.Del("Content-Length")
		response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		return &refusedFeed{upstream: r.upstream, response: &response}
	}
}

// inPlaceOfOwn returns the answer to a request of berth's own as one to the request
// with this id. A message without that id, or none at all, stays as it is.
func inPlaceOfOwn(message, id []byte) []byte {
	if a, err := mcp.PeekAnswer(message, false); err != nil || string(a.ID) != ownID {
		return message
	}
	return mcp.WithID(message, id)
}

// dropOneCallers removes from an answer that several are given what is meant for one.
func dropOneCallers(h http.Header) {
	h.Del("Set-Cookie")
	h.Del(mcp.HeaderSession)
}

// feed is a subscription's stream at one upstream, after its acknowledgement.
type feed struct {
	upstream *routing.Upstream
	response *http.Response
	agreed   mcp.Filter // what the upstream agreed to
	reader   *exchange.Reader
	within   bool // the last piece was not the end of its event
	wanted   bool // and the event is one to pass on
}

// said is what a feed says: an event that is to be passed on, or a piece of one.
type said struct {
	raw     []byte   // as it came; valid until the next call
	message []byte   // the notification, if it is here whole
	task    mcp.Task // that it tells of, if any
	begins  bool     // raw is the beginning of the event
	ends    bool     // raw is the end of the event
}

// bytes returns a copy of raw. An event that ends in a CR alone, whose LF is still on
// its way and will be left out, is completed: some parsers wait for what follows a CR.
func (s *said) bytes() []byte {
	if s.ends && bytes.HasSuffix(s.raw, []byte("\r")) {
		return append(bytes.Clone(s.raw), '\n')
	}
	return bytes.Clone(s.raw)
}

// newFeed reads the answer to a subscription up to the acknowledgement. What comes
// before that has no business there and is dropped. An answer that is no subscription
// is a *refusedFeed, which then holds the response.
func newFeed(u *routing.Upstream, response *http.Response) (*feed, error) {
	if exchange.ShapeOf(response) != exchange.EventStream || response.StatusCode/100 != 2 {
		return nil, &refusedFeed{upstream: u, response: response}
	}
	f := &feed{upstream: u, response: response, reader: exchange.NewReader(exchange.EventStream, response.Body)}
	for {
		piece, err := f.reader.Next()
		if err != nil {
			f.close()
			return nil, unended(err)
		}
		done, err := f.acknowledged(piece)
		if err != nil {
			f.close()
			return nil, err
		}
		if done {
			return f, nil
		}
	}
}

// unended: the end of a stream without a completion result is none in order.
func unended(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// acknowledged takes one piece of what precedes the acknowledgement, and reports
// whether it is that.
func (f *feed) acknowledged(piece exchange.Piece) (bool, error) {
	if len(piece.Message) == 0 || !piece.Between {
		return false, nil
	}
	a, err := mcp.PeekAnswer(piece.Message, false)
	switch {
	case err != nil:
		return false, nil
	case a.Method == mcp.NotificationAcknowledged:
		f.agreed, err = mcp.Agreed(piece.Message)
		return err == nil, err
	case a.Method != "":
		return false, nil
	case a.IsError:
		return false, &refusedFeed{upstream: f.upstream, message: bytes.Clone(piece.Message)}
	}
	return false, errFeedEnded
}

// next returns the next notification, or a piece of one. The upstream's own
// acknowledgements, answers and cancellations are not handed out: the subscription
// that the client knows is berth's. errFeedEnded is its end in order; any other error
// its break.
func (f *feed) next() (said, error) {
	for {
		piece, err := f.reader.Next()
		if err != nil {
			return said{}, unended(err)
		}
		s := said{raw: piece.Raw, begins: !f.within, ends: piece.Between}
		if s.begins {
			if f.wanted, err = s.judge(piece); err != nil {
				return said{}, err
			}
		}
		f.within = !piece.Between && (f.within || piece.Cut)
		if f.wanted {
			f.wanted = f.within
			return s, nil
		}
	}
}

// judge reads the beginning of an event and reports whether it is to be passed on.
// What is no whole event, at the end of a stream, is none.
func (s *said) judge(piece exchange.Piece) (wanted bool, err error) {
	if len(piece.Message) == 0 || !piece.Between && !piece.Cut {
		return false, nil
	}
	a, err := mcp.PeekAnswer(piece.Message, piece.Cut)
	switch {
	case err != nil || a.Method != "" && a.ID != nil:
		return false, nil // neither garbage nor requests belong on this stream
	case a.Method == "":
		return false, errFeedEnded
	case a.Method == mcp.NotificationAcknowledged, a.Method == mcp.NotificationCancelled:
		return false, nil
	}
	s.task = a.Task
	if !piece.Cut {
		s.message = piece.Message
	}
	return true, nil
}

// skip leaves out the rest of the event that next began to hand out.
func (f *feed) skip() { f.wanted = false }

func (f *feed) close() { f.response.Body.Close() }

// Joining an upstream again.
const (
	rejoinFirst = 500 * time.Millisecond
	rejoinMost  = 15 * time.Second
	stoodLong   = 15 * time.Second // after which the next break counts as the first
)

// keepJoined calls serve, which joins an upstream's subscription and stays until it is
// lost, again and again: until ctx ends, or the upstream refuses it. lost hears of each
// loss before the pause that follows it. u nil stands for any upstream.
func keepJoined(ctx context.Context, u *routing.Upstream, serve func() error, lost func(err error)) {
	for attempt := 0; ; attempt++ {
		began := time.Now()
		err := serve()
		if ctx.Err() != nil {
			return
		}
		lost(err)
		if refused, ok := errors.AsType[*refusedFeed](err); ok && !refused.passing() {
			return
		}
		if time.Since(began) > stoodLong {
			attempt = 0
		}
		if !pauseToRejoin(ctx, u, attempt) {
			return
		}
	}
}

// pauseToRejoin waits before an upstream is joined again: while it is silent, and a
// while that grows and differs, so that a thousand subscriptions do not come back to a
// server that has just begun in the same moment.
func pauseToRejoin(ctx context.Context, u *routing.Upstream, attempt int) bool {
	if u != nil {
		select {
		case <-u.Answering():
		case <-ctx.Done():
			return false
		}
	}
	wait := min(rejoinFirst<<min(attempt, 10), rejoinMost)
	timer := time.NewTimer(wait/2 + rand.N(wait/2))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
