package proxy

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/routing"
)

// errFeedEnded says that the upstream ended its subscription in order.
var errFeedEnded = errors.New("proxy: the upstream ended the subscription")

// feed is a subscription's stream at one upstream, after its acknowledgement.
type feed struct {
	upstream *routing.Upstream
	response *http.Response
	id       []byte     // raw, of the request that opened it
	crossed  func()     // is told of what answers other requests
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
func newFeed(u *routing.Upstream, response *http.Response, id []byte, crossed func()) (*feed, error) {
	if exchange.ShapeOf(response) != exchange.EventStream || response.StatusCode/100 != 2 {
		return nil, &refusedFeed{upstream: u, response: response}
	}
	f := &feed{upstream: u, response: response, id: id, crossed: crossed, reader: exchange.NewReader(exchange.EventStream, response.Body)}
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
	case a.Method == mcp.NotificationAcknowledged && mcp.IsOfAnotherSubscription(piece.Message, f.id):
		f.crossed()
		return false, nil
	case a.Method == mcp.NotificationAcknowledged:
		f.agreed, err = mcp.Agreed(piece.Message)
		return err == nil, err
	case a.Method != "":
		return false, nil
	case !a.Answers(f.id):
		f.crossed()
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
			if f.wanted, err = f.judge(&s, piece); err != nil {
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
func (f *feed) judge(s *said, piece exchange.Piece) (wanted bool, err error) {
	if len(piece.Message) == 0 || !piece.Between && !piece.Cut {
		return false, nil
	}
	a, err := mcp.PeekAnswer(piece.Message, piece.Cut)
	switch {
	case err != nil || a.Method != "" && a.ID != nil:
		return false, nil // neither garbage nor requests belong on this stream
	case a.Method == "" && !a.Answers(f.id):
		f.crossed()
		return false, nil
	case a.Method == "":
		return false, errFeedEnded
	case a.Method == mcp.NotificationAcknowledged, a.Method == mcp.MethodCancelled:
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
