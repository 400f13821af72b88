package polls

import (
	"context"
	"log/slog"
	"net/url"
	"testing"
	"testing/synctest"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/inbound"
	"berth/routing"
)

// pollBy is a poll of one task by the caller that authorization names.
func pollBy(ctx context.Context, authorization string) *inbound.Call {
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t"}}`)
	header := wire.NewHeader("Accept", "application/json", "Authorization", authorization)
	r := &wire.Request{Method: wire.MethodPost, URL: &url.URL{}, Header: header, RemoteAddr: "192.0.2.1:1"}
	c := &inbound.Call{HTTP: r.WithContext(ctx), Settings: &inbound.Settings{}, Body: body, ID: []byte("1")}
	c.Endpoint = &inbound.Endpoint{Router: &routing.Router{Pool: routing.NewPool(routing.PoolOptions{Name: "p"})}}
	if _, err := c.Message.Peek(body, 1); err != nil {
		panic(err)
	}
	return c
}

// An answer that several share is JSON: who does not take that gets its own.
func TestAPollIsSharedByThoseWhoTakeJSON(t *testing.T) {
	for accept, want := range map[string]bool{
		"application/json, text/event-stream": true,
		"APPLICATION/JSON":                    true,
		"*/*":                                 true,
		"text/event-stream":                   false,
		"text/event-stream, application/json;q=0": false,
		"*/*, application/json;q=0":               false,
		"application/json;q=0.0":                  false,
	} {
		c := pollBy(t.Context(), "a")
		if c.HTTP.Header.Set("Accept", accept); mayShare(c) != want {
			t.Errorf("%s: got %v, want %v", accept, !want, want)
		}
	}
}

// A poll alone is not digested, and allocates nothing: most polls are shared by nobody.
func TestPollAloneCostsLittle(t *testing.T) {
	s, c := NewShared(slog.New(slog.DiscardHandler)), pollBy(t.Context(), "a")
	room := new(Poll)
	got := testing.AllocsPerRun(100, func() {
		lead, _, _ := s.Join(t.Context(), c, "u", room)
		if lead.asks != (digest{}) {
			t.Error("what it asks was digested")
		}
		lead.Complete(&Response{Status: wire.StatusOK, Says: &mcp.Answer{}, Last: true})
		lead.Release()
		if lead != room || !lead.Free() {
			t.Error("its memory cannot be used again")
		}
	})
	if got > 0 {
		t.Errorf("got %v allocations", got)
	}
	for p := range s.alone.all() {
		t.Errorf("%v is left", p.task)
	}
	if n := len(s.like); n > 0 {
		t.Errorf("%d tasks are left", n)
	}
}

// The contexts that the request's exchange derives end when the last who waits has left, not
// when its own client has.
func TestPollEndsWithTheLastWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewShared(slog.New(slog.DiscardHandler))
		client, leave := context.WithCancel(t.Context())
		lead, _, _ := s.Join(client, pollBy(client, "a"), "u", nil)
		derived, cancel := context.WithCancel(lead)
		defer cancel()
		s.compareFirst(lead)
		p := s.join(newPollOf(s, pollBy(t.Context(), "a")), "")
		if p != lead {
			t.Fatal("equal polls are not one")
		}
		if other := s.join(newPollOf(s, pollBy(t.Context(), "b")), ""); other == lead {
			t.Error("another caller's poll is the same")
		}
		leave()
		synctest.Wait()
		if lead.Err() != nil || derived.Err() != nil {
			t.Error("it ended with its leader")
		}
		s.leave(p)
		if <-derived.Done(); lead.Err() == nil {
			t.Error("it has no error")
		}
		lead.Release()
	})
}

func newPollOf(s *Shared, c *inbound.Call) *Poll {
	p := newPoll(c.HTTP.Context(), s, c, "u", nil)
	p.asks = p.digest()
	return p
}
