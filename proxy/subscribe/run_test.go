package subscribe

import (
	"strings"
	"testing"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/listen"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/reply"
)

// pad is a client that notes what it is sent.
type pad struct{ strings.Builder }

func (*pad) Header() *wire.Header             { return new(wire.Header) }
func (*pad) WriteHeader(int)                  {}
func (*pad) Flush() error                     { return nil }
func (*pad) SetReadDeadline(time.Time) error  { return nil }
func (*pad) SetWriteDeadline(time.Time) error { return nil }

// Of equal notifications of two instances one waits: it is told though the instance that was first leaves the pool before.
func TestANotificationIsToldThoughItsInstanceLeaves(t *testing.T) {
	client := new(pad)
	granted, err := listen.Parse([]byte(`{"toolsListChanged":true}`))
	if err != nil {
		t.Fatal(err)
	}
	way := outbound.Way{Call: &inbound.Call{ID: []byte("1")}}
	l := &Subscription{Request: &Request{Way: way, Out: &reply.Writer{Client: client, Stall: time.Hour}}, inbox: newInbox(), agreed: granted}
	first, second := &leg{l: l, shared: true, state: legStanding}, &leg{l: l, shared: true, state: legStanding}
	l.legs = []*leg{first, second}
	const changed = "notifications/tools/list_changed"
	for _, g := range l.legs {
		about, err := mcp.PeekSubscribed([]byte(`{"jsonrpc":"2.0","method":"`+changed+`"}`), false)
		if err != nil {
			t.Fatal(err)
		}
		l.inbox.post(report{leg: g, raw: []byte(`{"jsonrpc":"2.0","method":"` + changed + `"}`), about: &about})
	}
	l.legs = []*leg{second}
	if err := l.takeShared(); err != nil || strings.Count(client.String(), changed) != 1 {
		t.Errorf("told %q, %v", client.String(), err)
	}
}
