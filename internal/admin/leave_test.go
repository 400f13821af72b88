package admin

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"testing"

	"berth/internal/realtest"
	"berth/internal/sockets"
)

func openAt(t *testing.T, address string) *sockets.Listener {
	t.Helper()
	l, err := sockets.Listen(t.Context(), address, true)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Of two processes at one address the one that goes says nothing there any more: who asks in turns would
// hear now this, now that.
func TestDrainingServerLeavesASharedAddress(t *testing.T) {
	first := openAt(t, "127.0.0.1:0")
	leaving, url := run(t, Options{Inherited: first})
	_, other := run(t, Options{Listen: first.Addr().String(), ReusePort: true})
	if url != other {
		t.Fatalf("got %s and %s, want one address", url, other)
	}
	raw, err := first.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	leaving.SetDraining()
	leaving.SetDraining()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	left := realtest.Until(realtest.Within, func() bool {
		if got := send(t, client, "GET", url+"/readyz"); got.status != 200 {
			t.Errorf("got %d %q, want the answer of the one that stays", got.status, got.body)
		}
		return raw.Control(func(uintptr) {}) != nil // it is closed
	})
	if !left {
		t.Error("the address is not left")
	}
}

// The rules are those of any listener.
func TestInheritedListenerNeedsATokenOffLoopback(t *testing.T) {
	l := openAt(t, "0.0.0.0:0")
	if _, err := New(t.Context(), Options{Inherited: l, Log: slog.New(slog.DiscardHandler)}); !errors.Is(err, ErrTokenRequired) {
		t.Errorf("got %v, want ErrTokenRequired", err)
	}
	s, err := New(t.Context(), Options{Inherited: l, Token: canary, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Run(ctx); err != nil {
		t.Error(err)
	}
}
