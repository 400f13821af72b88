package proxy

import (
	"bytes"
	"context"
	"errors"
	"io"

	"berth/proxy/audit"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
)

// errFeedEnded says that the upstream ended its subscription in order.
var errFeedEnded = errors.New("proxy: the upstream ended the subscription")

// feed is a subscription's stream at one upstream, after its acknowledgement.
type feed struct {
	upstream *routing.Upstream
	id       []byte                  // raw, of the request that opens it
	crossed  func()                  // is told of what belongs to other requests
	drops    func(reason audit.Drop) // is told of what else has no business there

	response *wire.Response
	agreed   mcp.Filter // what the upstream agreed to
	granted  mcp.Filter // what of that is passed on
	reader   *exchange.Reader
	within   bool // the last piece was not the end of its event
	wanted   bool // and the event is one to pass on
}

// said is what a feed says: an event that is to be passed on, or a piece of one.
type said struct {
	raw     []byte         // as it came; valid until the next call
	message []byte         // the notification, if it is here whole
	about   mcp.Subscribed // what the notification says of itself
	begins  bool           // raw is the beginning of the event
	ends    bool           // raw is the end of the event
}

// bytes returns a copy of raw. An event that ends in a CR alone, whose LF is still on
// its way and will be left out, is completed: some parsers wait for what follows a CR.
func (s *said) bytes() []byte {
	if s.ends && bytes.HasSuffix(s.raw, []byte("\r")) {
		return append(bytes.Clone(s.raw), '\n')
	}
	return bytes.Clone(s.raw)
}

// newFeed is a subscription that is to be sent to u under this JSON-RPC id.
func (p *Proxy) newFeed(ep *inbound.Endpoint, u *routing.Upstream, id []byte) *feed {
	pool := ep.Router.Pool.Name()
	return &feed{
		upstream: u, id: id,
		crossed: func() { p.audit.CrossedBy(pool, u) },
		drops:   func(reason audit.Drop) { p.audit.Dropped(pool, u, reason) },
	}
}

// subscribe sends the subscription and reads up to its acknowledgement.
func (f *feed) subscribe(ctx context.Context, ep *inbound.Endpoint, out *exchange.Request) error {
	response, err := outbound.To(ep).Send(ctx, f.upstream, out, outbound.Terms{Wait: ep.Timeouts.Control, Watched: true})
	if err != nil {
		return err
	}
	return f.begin(response)
}

// begin reads the answer to a subscription up to the acknowledgement. What comes
// before that has no business there and is dropped. An answer that is no subscription
// is a *refusedFeed, which then holds the response.
func (f *feed) begin(response *wire.Response) error {
	if exchange.ShapeOf(response) != exchange.EventStream || response.Status/100 != 2 {
		return &refusedFeed{upstream: f.upstream, response: response}
	}
	f.response, f.reader = response, exchange.NewReader(exchange.EventStream, response.Body)
	for {
		piece, err := f.reader.Next()
		if err != nil {
			f.close()
			return unended(err)
		}
		done, err := f.acknowledged(piece)
		if err != nil {
			f.close()
			return err
		}
		if done {
			return nil
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
	a, err := mcp.PeekSubscribed(piece.Message, false)
	switch {
	case err != nil || a.Method != "" && a.Method != mcp.NotificationAcknowledged:
		return f.drop(audit.DropOther)
	case !f.isOurs(&a):
		f.crossed()
		return false, nil
	case a.Method != "":
		f.agreed, err = mcp.Agreed(piece.Message)
		return err == nil, err
	case a.IsError:
		return false, &refusedFeed{upstream: f.upstream, message: bytes.Clone(piece.Message)}
	}
	return false, errFeedEnded
}

// drop leaves a message out.
func (f *feed) drop(reason audit.Drop) (wanted bool, err error) {
	f.drops(reason)
	return false, nil
}

// isOurs reports whether a message is of this subscription: a response to its request, or a
// notification that names it, or none: that is, as far as anybody can know.
func (f *feed) isOurs(a *mcp.Subscribed) bool {
	if a.Method == "" {
		return a.Answers(f.id) || a.IsNobodys()
	}
	return a.Subscription == nil || mcp.IDKey(a.Subscription) == mcp.IDKey(f.id)
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

// judge reads the beginning of an event and reports whether it is to be passed on: a
// notification of this subscription that was granted. What is no whole event, at the end of
// a stream, is none.
func (f *feed) judge(s *said, piece exchange.Piece) (wanted bool, err error) {
	if len(piece.Message) == 0 || !piece.Between && !piece.Cut {
		return false, nil
	}
	s.about, err = mcp.PeekSubscribed(piece.Message, piece.Cut)
	a := &s.about
	switch {
	case err != nil || a.Method != "" && a.ID != nil: // neither garbage nor requests belong on this stream
		return f.drop(audit.DropOther)
	case !f.isOurs(a):
		f.crossed()
		return false, nil
	case a.Method == "":
		return false, errFeedEnded
	case a.Method == mcp.NotificationAcknowledged, a.Method == mcp.MethodCancelled:
		return false, nil
	case !f.granted.Grants(a):
		return f.drop(audit.DropUnasked)
	}
	if !piece.Cut {
		s.message = piece.Message
	}
	return true, nil
}

// skip leaves out the rest of the event that next began to hand out.
func (f *feed) skip() { f.wanted = false }

func (f *feed) close() { f.response.Body.Close() }
