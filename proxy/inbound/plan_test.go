package inbound

import (
	"net/url"
	"reflect"
	"testing"

	"berth/internal/mcp"
	"berth/internal/wire"
)

func arrivalOf(tb testing.TB, body string) Arrival {
	tb.Helper()
	x := Arrival{&Call{HTTP: &wire.Request{Method: wire.MethodPost, URL: &url.URL{Path: "/mcp"}}, Endpoint: &Endpoint{Path: "/mcp"}, Settings: &Settings{}}}
	if _, refusal := x.Message.Peek([]byte(body), 10); refusal != nil {
		tb.Fatal(refusal)
	}
	if refusal := mcp.Classify(&x.Message, nil); refusal != nil {
		tb.Fatal(refusal)
	}
	return x
}

// A batch is as its boldest call: it may be sent again if all may, and bears a task if one does.
func TestABatchIsPlannedByAllOfItsCalls(t *testing.T) {
	const (
		poll = `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"a"}}`
		list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
		call = `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"a"}}`
		made = `{"jsonrpc":"2.0","id":4,"method":"tools/list","params":{"_meta":{"modelcontextprotocol.io/task":{"taskId":"a"}}}}`
		note = `{"jsonrpc":"2.0","method":"notifications/cancelled"}`
		said = `{"jsonrpc":"2.0","id":5,"result":{}}`
	)
	for body, want := range map[string]Plan{
		poll:                          {ReadsOnly: true, AboutTask: true, ConcernsBegun: true, MustBeClear: true, MayPoll: true, Polls: 1},
		list:                          {ReadsOnly: true, MayPoll: true},
		call:                          {MayCreateTask: true, MustBeClear: true, MayPoll: true},
		made:                          {MayPoll: true},
		note:                          {ConcernsBegun: true, MayPoll: true},
		said:                          {ConcernsBegun: true, MayPoll: true},
		`[` + poll + `]`:              {ReadsOnly: true, ConcernsBegun: true, Polls: 1},
		"[" + poll + "," + poll + "]": {ReadsOnly: true, ConcernsBegun: true, Polls: 2},
		"[" + poll + "," + list + "]": {ReadsOnly: true, Polls: 1},
		"[" + list + "," + call + "]": {MayCreateTask: true, MustBeClear: true},
		"[" + list + "," + made + "]": {},
		"[" + list + "," + note + "]": {},
		"[" + note + "," + said + "]": {ConcernsBegun: true},
	} {
		x := arrivalOf(t, body)
		x.plan()
		if got := x.Plan; !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %+v\nwant %+v", body, got, want)
		}
	}
}

func BenchmarkPlan(b *testing.B) {
	x := arrivalOf(b, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"a"}}`)
	b.ReportAllocs()
	for b.Loop() {
		x.plan()
	}
}
