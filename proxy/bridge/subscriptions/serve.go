package subscriptions

import (
	"context"
	"io"
	"slices"

	"berth/internal/mcp"
	"berth/internal/mcp/listen"
	"berth/internal/mcp/offer"
	"berth/internal/wire"
	"berth/proxy/bridge/coretasks"
	"berth/proxy/bridge/sessions"
	"berth/proxy/reply"
)

// Request is a client's subscriptions/listen.
type Request struct {
	Server *coretasks.Server // that it is about
	Who    *sessions.Borrower
	ID     []byte // raw JSON
	Wishes listen.Filter
}

// Serve answers it, from the GET streams of the caller's sessions, and from resources/subscribe in one of them.
func Serve(ctx context.Context, r Request) (*wire.Response, error) {
	l, err := r.Server.Sessions.Lend(ctx, r.Server.At, r.Who, false)
	if err != nil {
		return nil, err
	}
	li := &listener{
		of: r, l: l, whose: r.Who.Whose(), recent: map[string]*news{}, heard: make(chan []byte, MaxUnread), lost: make(chan struct{}), moves: make(chan struct{}, 1),
	}
	ctx, li.stop = context.WithCancel(ctx)
	li.agreed = li.offered()
	others := r.Server.Sessions.Subscribe(li.whose, l, li)
	l.Listen(ctx, r.Who.Out, "")
	for _, other := range others {
		other.Listen(ctx, r.Who.Out, "")
	}
	agreed := li.agree(ctx)
	li.mu.Lock()
	li.agreed = agreed
	li.mu.Unlock()
	li.left = reply.Event(mcp.Acknowledgement(r.ID, agreed))
	if ids := agreed.TaskIDs(); len(ids) > 0 {
		go li.watch(ctx, ids)
	}
	return wire.Streamed(&heard{ctx, li}), nil
}

// tells are the capabilities by which a legacy server tells of what a filter names.
var tells = map[string][]string{
	"toolsListChanged":      {"tools", "listChanged"},
	"promptsListChanged":    {"prompts", "listChanged"},
	"resourcesListChanged":  {"resources", "listChanged"},
	"resourceSubscriptions": {"resources", "subscribe"},
}

// offered is what of the client's wishes the server says it tells of.
func (li *listener) offered() (offered listen.Filter) {
	for _, wish := range li.of.Wishes {
		path := tells[wish.Name]
		isTold := wish.Name == listen.Tasks || path != nil && offer.HasCapability(li.l.Result, path...)
		if isTold && !(listen.Filter{wish}).Empty() {
			offered = append(offered, wish)
		}
	}
	return offered
}

// agree subscribes to what is offered, and returns what of that the client can be told of: where the session has no GET stream, of
// tasks alone.
func (li *listener) agree(ctx context.Context) (agreed listen.Filter) {
	isHeard := li.l.IsHeard()
	for _, wish := range li.agreed {
		switch {
		case wish.Name == listen.Tasks:
			if wish.List = li.tasksAmong(ctx, wish.List); len(wish.List) == 0 {
				continue
			}
		case !isHeard:
			continue
		case wish.List != nil:
			wish.List = slices.DeleteFunc(slices.Clone(wish.List), func(uri string) bool { return !li.subscribe(ctx, uri) })
		}
		agreed = append(agreed, wish)
	}
	return agreed
}

// subscribe has the session told of a resource.
func (li *listener) subscribe(ctx context.Context, uri string) bool {
	granted := li.l.Resources.Subscribe(ctx, li.of.Who.Out, uri)
	if granted {
		li.uris = append(li.uris, uri)
	}
	return granted
}

// heard is the body of the answer to subscriptions/listen.
type heard struct {
	ctx context.Context
	li  *listener
}

// Read implements io.Reader. A stream that ends without a result is one to be opened anew.
func (h *heard) Read(p []byte) (int, error) {
	for len(h.li.left) == 0 {
		select {
		case <-h.ctx.Done():
			return 0, context.Cause(h.ctx)
		case <-h.li.lost:
			return 0, io.EOF
		case message := <-h.li.heard:
			h.li.left = reply.Event(message)
		}
	}
	n := copy(p, h.li.left)
	h.li.left = h.li.left[n:]
	return n, nil
}

// Close implements io.Closer.
func (h *heard) Close() error {
	h.li.leave()
	return nil
}
