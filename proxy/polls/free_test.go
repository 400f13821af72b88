package polls

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
)

// The memory of a poll serves another one only if nobody can have the first any more.
func TestAPollIsFreeThatNobodyElseHasHad(t *testing.T) {
	for name, c := range map[string]struct {
		during func(s *Shared, lead *Poll)
		free   bool
	}{
		"alone":                     {func(*Shared, *Poll) {}, true},
		"asked whether it has left": {func(_ *Shared, lead *Poll) { _ = lead.Err() }, true},
		"its end is waited for":     {func(_ *Shared, lead *Poll) { lead.Done() }, false},
		"a context derived from it": {func(_ *Shared, lead *Poll) { _, cancel := context.WithCancel(lead); cancel() }, false},
		"compared with another":     {func(s *Shared, lead *Poll) { s.compareFirst(lead) }, false},
		"joined, and left again":    {func(s *Shared, lead *Poll) { s.compareFirst(lead); s.leave(s.join(newPollOf(s, lead.call), "")) }, false},
		"its answer is kept":        {func(_ *Shared, lead *Poll) { lead.call.Endpoint.Coalesce = time.Second }, false},
		"never answered":            {func(_ *Shared, lead *Poll) { lead.call.ID = []byte("2") }, false},
	} {
		s, call := NewShared(slog.New(slog.DiscardHandler)), pollBy(t.Context(), "a")
		lead, _, _ := s.Join(t.Context(), call, "u", new(Poll))
		c.during(s, lead)
		if string(call.ID) == "1" {
			lead.Complete(&Response{Status: wire.StatusOK, Says: &mcp.Answer{}, Last: true})
		}
		if lead.Free() {
			t.Errorf("%s: free before it was released", name)
		}
		lead.Release()
		if free := lead.Free(); free != c.free {
			t.Errorf("%s: free is %v, want %v", name, free, c.free)
		} else if free && (lead.Context != nil || lead.task.ID != "") {
			t.Errorf("%s: what it refers to is kept", name)
		}
	}
}

// Who leads after another poll was there has been looked at by whoever waits for marks.
func TestAPollThatLeadsBesideAnotherIsNotFree(t *testing.T) {
	s := NewShared(slog.New(slog.DiscardHandler))
	first, _, _ := s.Join(t.Context(), pollBy(t.Context(), "a"), "u", nil)
	second, _, _ := s.Join(t.Context(), pollBy(t.Context(), "b"), "u", new(Poll))
	for _, lead := range []*Poll{first, second} {
		lead.Complete(&Response{Status: wire.StatusOK, Says: &mcp.Answer{}, Last: true})
		if lead.Release(); lead.Free() {
			t.Error("a poll that others were compared with is free")
		}
	}
}
