package proxy_test

import (
	"testing"

	"berth/internal/realtest"
	"berth/internal/trouble"
	"berth/proxy"
)

// What clients are refused, and what nobody knows, is counted as what it is, once; what goes well is not.
func TestTroublesAreNoted(t *testing.T) {
	book := trouble.New(nil)
	b := start(t, setup{principals: true, options: func(o *proxy.Options) { o.Troubles = book }})
	id := b.makeTask(userHeader, "alice")
	b.modern("tasks/get", id, byID(id), userHeader, "alice")
	b.modern("tools/call", "who", `"name":"who"`, userHeader, "alice")
	b.modern("tasks/get", id, byID(id), userHeader, "bob")
	b.modern("tasks/get", "none", byID("none"), userHeader, "bob")
	b.legacy("no-such-session", "ping", "", userHeader, "bob")
	b.post("{", userHeader, "bob")
	want := map[trouble.Kind]int64{trouble.UnknownIDs: 3, trouble.Refusals: 1}
	realtest.Eventually(t, "all to be noted", func() bool {
		for _, n := range book.Numbers() {
			if n.Count != want[n.Kind] {
				return false
			}
		}
		return true
	})
	events, _ := book.Events(trouble.UnknownIDs)
	for i, e := range []trouble.Event{{What: "unknown session"}, {What: "unknown task", ID: "none"}, {What: "unknown task", ID: id}} {
		if got := events[i]; got.What != e.What || got.ID != e.ID || got.Pool != "main" || got.Caller == "" || got.Caller == "bob" {
			t.Errorf("got %+v, want %+v", got, e)
		}
	}
}
