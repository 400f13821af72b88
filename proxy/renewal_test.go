package proxy_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// aliceIn are the headers of alice's in a session, with a token.
func aliceIn(session, token string) []string {
	return append(legacyHeader(session), userHeader, "alice", "Authorization", token)
}

// madeAs makes a task in a new session of alice's, with this token.
func (f *coreRig) madeAs(token string) (session, id string) {
	f.t.Helper()
	session = f.do(f.request(f.t.Context(), http.MethodPost, message("initialize", `"protocolVersion":"2025-11-25"`), aliceIn("", token)...)).header.Get("Mcp-Session-Id")
	r := f.do(f.request(f.t.Context(), http.MethodPost, message("tools/call", work), aliceIn(session, token)...))
	m := r.message(f.t)
	if m.Result == nil || m.Result.Task == nil {
		f.t.Fatalf("no task: %v", r)
	}
	return session, m.Result.Task.TaskID
}

// A call that its client cancels is cancelled at the server with what the cancel bears: what the call was made with may
// have expired.
func TestCancelInASessionBearsTheCancellersCredentials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newCoreRig(t, rigOptions{principals: true}, nil)
		session, id := f.madeAs("Bearer one")
		f.do(f.request(t.Context(), http.MethodPost, message("tasks/cancel", byID(id)), aliceIn(session, "Bearer two")...))
		f.eventually("a cancel", func() bool { return len(f.tool.authorised()) > 0 })
		if by := f.tool.authorised(); slices.Contains(by, "Bearer one") {
			t.Errorf("cancelled by %q", by)
		}
	})
}

// breaksAndExpires has calls' streams break off behind an event, and be resumed with this token alone.
func (f *coreRig) breaksAndExpires(token string) {
	f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		switch {
		case methodIn(body) == "tools/call":
			f.seen.note(r, body)
			return say(eventsType, "id: first\nretry: 10\ndata: \n\n")(w, r, nil)
		case r.Method != http.MethodGet || r.Header.Get("Last-Event-ID") == "":
			return false
		case r.Header.Get("Authorization") != token:
			return sayStatus(http.StatusUnauthorized, jsonType, `{}`)(w, r, body)
		}
		call := f.seen.of("tools/call")[0].body
		return say(eventsType, "id: last\ndata: "+response([]byte(call), `"result":{"content":[]}`)+"\n\n")(w, r, body)
	})
}

// A held call whose stream breaks off outlives what it was made with, where its caller asks for the task with something newer; where
// nobody does, the task says why it failed.
func TestStreamOfAHeldCallIsResumedWithNewerCredentials(t *testing.T) {
	for token, want := range map[string]string{"Bearer two": "completed", "Bearer three": "failed"} {
		t.Run(token, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newCoreRig(t, rigOptions{principals: true}, nil)
				f.breaksAndExpires(token)
				session, id := f.madeAs("Bearer one")
				look := func() coreView {
					return f.do(f.request(t.Context(), http.MethodPost, message("tasks/get", byID(id)), aliceIn(session, "Bearer two")...)).coreView(t)
				}
				time.Sleep(5 * time.Second)
				look()
				time.Sleep(time.Minute)
				if v := look(); v.Status != want || want == "failed" && !strings.Contains(v.StatusMessage, "401 Unauthorized; the tool may have run") {
					t.Errorf("got %+v, want %s", v, want)
				}
			})
		})
	}
}
