package bridge

import (
	"strings"
	"testing"

	"berth/internal/mcp"
)

// A page's cursor leads back to the session that it was given out in, for its caller alone.
func TestPagesOfAListAreOneSessions(t *testing.T) {
	bridged(t, tool(kind{lists: `{"tools":[{"name":"asks","inputSchema":{"type":"object"}}],"nextCursor":"2"}`}, where), nil, func(r *rig) {
		list := asking{method: "tools/list"}
		cursor := mcp.CursorIn(mcp.ResultObject([]byte(r.do(list).text)))
		if cursor == "" || cursor == "2" {
			t.Fatalf("got the cursor %q", cursor)
		}
		before := r.sent("tools/list")
		list.params = `"cursor":"` + cursor + `",`
		r.do(list)
		last := r.sent("tools/list")
		if len(last) != len(before)+1 || !strings.Contains(last[len(last)-1].body, `"cursor":"2"`) {
			t.Errorf("the server was asked %v", last)
		}
		if last[len(last)-1].session != before[len(before)-1].session {
			t.Error("the next page is another session's")
		}
		foreign := list
		foreign.caller = "other"
		for name, a := range map[string]asking{"another caller": foreign, "the server's own": {method: "tools/list", params: `"cursor":"2",`}} {
			if got := r.do(a).text; !strings.Contains(got, "-32602") {
				t.Errorf("%s: got %s", name, got)
			}
		}
	})
}
