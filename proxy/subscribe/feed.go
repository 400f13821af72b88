package subscribe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/listen"
	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/routing"
)

// errFeedEnded says that the upstream ended its subscription in order.
var errFeedEnded = errors.New("proxy: the upstream ended the subscription")

// feed is a subscription's stream at one upstream, after its acknowledgement.
type feed struct {
	all      *Subscriptions
	ep       *inbound.Endpoint
	upstream *routing.Upstream
	id       []byte // raw, of the request that opens it

	response *wire.Response // its head may be read when the stream has ended
	agreed   listen.Filter  // what the upstream agreed to
	granted  listen.Filter  // what of that is passed on
	reader   *exchange.Reader
	within   bool // the last piece was not the end of its event
	wanted   bool // and the event is one to pass on
}

// received is an event of a feed that is to be passed on, or a piece of one.
type received struct {
	raw     []byte         // as it came; valid until the next call
	message []byte         // the notification, if it is here whole
	about   mcp.Subscribed // what the notification says of itself
	ends    bool           // raw is the end of the event
}

// bytes returns a copy of raw. An event that ends in a CR alone, whose LF is still on
// its way and will be left out, is completed: some parsers wait for what follows a CR.
func (r *received) bytes() []byte {
	if r.ends && bytes.HasSuffix(r.raw, []byte("\r")) {
		return append(bytes.Clone(r.raw), '\n')
	}
	return bytes.Clone(r.raw)
}

// hint is a copy of the notification, or what there is to know of one that is not here whole; nil for the rest of that.
func (r *received) hint() []byte {
	switch {
	case r.message != nil:
		return bytes.Clone(r.message)
	case r.about.Method == "":
		return nil
	}
	notification := map[string]any{"jsonrpc": "2.0", "method": r.about.Method}
	if r.about.URI != "" {
		notification["params"] = map[string]any{"uri": r.about.URI}
	}
	hint, _ := json.Marshal(notification) // strings and maps always marshal
	return hint
}

// subscribe sends the subscription and reads up to its acknowledgement.
func (f *feed) subscribe(ctx context.Context, out *exchange.Request) error {
	terms := outbound.Terms{Wait: f.ep.Timeouts.Control, Watched: true}
	response, err := outbound.To(f.ep).Send(ctx, f.upstream, out, terms)
	if err != nil {
		return err
	}
	return f.begin(response)
}

// begin reads the answer to a subscription up to the acknowledgement. What comes
// before that has no business there and is dropped. An answer that is no subscription
// is a *Refusal, which then holds the response.
func (f *feed) begin(response *wire.Response) error {
	kept := response.Kept() // what it says counts when it was dropped
	kept.Body = response.Body
	if exchange.ShapeOf(response) != exchange.EventStream || response.Status/100 != 2 {
		return &Refusal{Upstream: f.upstream, Response: readAhead(kept)}
	}
	f.response, f.reader = kept, exchange.NewReader(exchange.EventStream, response.Body)
	for {
		piece, err := f.reader.Next()
		acknowledged := false
		if err == nil {
			acknowledged, err = f.acknowledged(piece)
		}
		if err != nil {
			f.close()
			return unended(err)
		}
		if acknowledged {
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
		f.drop(audit.DropOther)
		return false, nil
	case !f.isOurs(&a):
		f.crossed()
		return false, nil
	case a.Method != "":
		f.agreed, err = mcp.Agreed(piece.Message)
		return err == nil, err
	case a.IsError:
		return false, &Refusal{Upstream: f.upstream, Message: bytes.Clone(piece.Message)}
	}
	return false, errFeedEnded
}

// drop counts a message that is left out.
func (f *feed) drop(reason audit.Drop) {
	f.all.Reporter.Dropped(f.ep.Router.Pool.Name(), f.upstream, reason)
}

// crossed counts a message that belongs to another request.
func (f *feed) crossed() { f.all.Reporter.CrossedBy(f.ep.Router.Pool.Name(), f.upstream) }

// isOurs reports whether a message is of this subscription: a response to its request, or a
// notification that names it, or none: that is, as far as anybody can know.
func (f *feed) isOurs(a *mcp.Subscribed) bool {
	if a.Method == "" {
		return a.Answers(f.id) || a.IsNobodys()
	}
	return a.Subscription == nil || mcp.SameID(a.Subscription, f.id)
}

// next returns the next notification, or a piece of one. The upstream's own
// acknowledgements, answers and cancellations are not handed out: the subscription
// that the client knows is berth's. Unless the rest of an event is wanted, it is left out.
// errFeedEnded is the feed's end in order; any other error its break.
func (f *feed) next() (received, error) {
	for {
		piece, err := f.reader.Next()
		if err != nil {
			return received{}, unended(err)
		}
		r := received{raw: piece.Raw, ends: piece.Between}
		if !f.within {
			if f.wanted, err = f.judge(&r, piece); err != nil {
				return received{}, err
			}
		}
		f.within = !piece.Between && (f.within || piece.Cut)
		if f.wanted {
			f.wanted = f.within
			return r, nil
		}
	}
}

// judge reads the beginning of an event and reports whether it is to be passed on: a
// notification of this subscription that was granted. What is no whole event, at the end of
// a stream, is none.
func (f *feed) judge(r *received, piece exchange.Piece) (wanted bool, err error) {
	if len(piece.Message) == 0 || !piece.Between && !piece.Cut {
		return false, nil
	}
	r.about, err = mcp.PeekSubscribed(piece.Message, piece.Cut)
	a := &r.about
	switch {
	case err != nil || a.Method != "" && a.ID != nil: // neither garbage nor requests belong on this stream
		f.drop(audit.DropOther)
		return false, nil
	case !f.isOurs(a):
		f.crossed()
		return false, nil
	case a.Method == "":
		return false, errFeedEnded
	case a.Method == mcp.NotificationAcknowledged, a.Method == mcp.MethodCancelled:
		return false, nil
	case !f.granted.Grants(a.Method, a.URI, a.Task.ID):
		f.drop(audit.DropUnasked)
		return false, nil
	}
	if !piece.Cut {
		r.message = piece.Message
	}
	return true, nil
}

func (f *feed) close() { f.response.Body.Close() }
