package proxy_test

import (
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
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
