package proxy_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	"berth/internal/storage/redistest"
	"berth/upgrade"
)

// handsOut has an instance answer initialize with a session of this id, which it holds.
func handsOut(session string) faultFunc {
	return onMethod("initialize", func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		w.Header().Set("Mcp-Session-Id", session)
		return say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`)(w, r, body)
	})
}

// A server may give a session the id of one that has ended, a user's for example. It is
// alive then, at every berth, though a call is held still in the one before.
func TestEndedSessionsIDMayBeHandedOutAgain(t *testing.T) {
	f, g, _ := newSessionPair(t)
	f.errand(`"seconds":3600`)
	if r := g.end(f.session); r.status != http.StatusOK {
		t.Fatalf("end: got %v", r)
	}
	if r := f.legacy(f.session, "ping", ""); r.status != http.StatusNotFound {
		t.Fatalf("in the ended session: got %v, want 404", r)
	}
	f.servers[0].inject(handsOut(f.session))
	if again := f.initialize(); again != f.session {
		t.Fatalf("got the session %q, want %q", again, f.session)
	}
	for name, berth := range map[string]*rig{"one": f.rig, "other": g} {
		if r := berth.legacy(f.session, "ping", ""); r.status != http.StatusOK {
			t.Errorf("at the %s berth: got %v, want an answer", name, r)
		}
	}
}

// A berth that followed the session where it was finds it where it is.
func TestSessionHandedOutElsewhereIsFound(t *testing.T) {
	url := redistest.Start(t).URL()
	f := newRig(t, rigOptions{size: 2, store: openStore(t, url)})
	g := f.second(rigOptions{size: 2, store: openStore(t, url)})
	session := f.initialize() // at a
	if r := g.legacy(session, "ping", ""); r.status != http.StatusOK {
		t.Fatalf("at the other berth: got %v", r)
	}
	f.do(f.request(t.Context(), http.MethodDelete, "", legacyHeader(session)...))
	f.pool.Upstreams()[0].Draining = true
	f.servers[1].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return handsOut(session)(w, r, body) || say(jsonType, `{"jsonrpc":"2.0","id":1,"result":{"by":"b"}}`)(w, r, body)
	})
	if again := f.initialize(); again != session {
		t.Fatalf("got the session %q, want %q", again, session)
	}
	for range 2 {
		if r := g.legacy(session, "ping", ""); r.status != http.StatusOK {
			t.Errorf("at the other berth: got %v, want b's answer", r)
		}
	}
}

// The mark of a session that has ended is what the next one under its id is freed of.
func TestSessionBeginsWithoutTheMarkOfAnother(t *testing.T) {
	f := newSessionRig(t, rigOptions{})
	f.errand(`"seconds":3600`)
	f.end(f.session)
	f.servers[0].inject(handsOut(f.session))
	f.initialize()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if over, err := f.tasks.Sessions.SessionOver(ctx, upgrade.SessionKey("p", "", f.session)); over || err != nil {
		t.Errorf("over: %v, %v", over, err)
	}
}
