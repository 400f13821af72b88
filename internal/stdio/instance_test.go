package stdio

import (
	"context"
	"strings"
	"testing"

	"berth/internal/exchange"
	"berth/internal/exchange/exchangetest"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// sendBy sends by the instance and returns the status of the answer, and its session.
func sendBy(t *testing.T, i *Instance, request *exchange.Request) (status int, session string) {
	t.Helper()
	response, err := i.Send(t.Context(), request, 0)
	if err != nil {
		t.Fatal(err)
	}
	exchangetest.ReadAll(t, response)
	response.Body.Close()
	return response.Status, response.Header.Get(mcp.HeaderSession)
}

// A server that is to be run otherwise than before is run anew. Sessions stay where they are until
// they end, and so does their process.
func TestSessionsOutliveAChangeOfTheirServer(t *testing.T) {
	r := newRig(t, "serve")
	i := &Instance{now: &running{Server: r.Server, by: r.options}}
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan struct{})
	go func() { defer close(ran); _ = i.Run(ctx) }()
	defer func() { stop(); <-ran; _ = i.Shutdown(context.Background()) }()
	before := r.open("one")

	i.Change(r.options)
	if i.now.Server != r.Server {
		t.Fatal("the same options make another server")
	}
	changed := r.options
	changed.SessionPrefix = "changed-"
	i.Change(changed)
	second := i.now
	i.Change(r.options)
	if i.now.Server != r.Server {
		t.Fatal("a server that has not left is made once more")
	}
	i.Change(changed)
	if i.now != second {
		t.Fatal("a server that has not left is made once more")
	}
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	if status, _ := sendBy(t, i, r.request(wire.MethodPost, before.session, "one", ping)); status != wire.StatusOK {
		t.Errorf("in the session from before: %d", status)
	}
	status, session := sendBy(t, i, r.request(wire.MethodPost, "", "one", opening))
	if status != wire.StatusOK || !strings.HasPrefix(session, "changed-") {
		t.Errorf("a new session: %d, %q", status, session)
	}
	if n := r.processes(); n != 1 {
		t.Errorf("%d processes of before", n)
	}
	if status, _ := sendBy(t, i, r.request(wire.MethodDelete, before.session, "one", "")); status != wire.StatusOK {
		t.Errorf("the end of the session from before: %d", status)
	}
	r.eventually("the server of before is gone", func() bool { return len(i.all()) == 1 && r.processes() == 0 })
	if status, _ := sendBy(t, i, r.request(wire.MethodPost, session, "one", ping)); status != wire.StatusOK {
		t.Errorf("in the new session: %d", status)
	}
}
