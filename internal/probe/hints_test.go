package probe

import (
	"encoding/json"
	"slices"
	"testing"

	"berth/internal/client"
	"berth/internal/mcp"
)

// What berth answers itself is no instance's.
func TestBerthIsNoInstance(t *testing.T) {
	var h hints
	for _, result := range []string{
		`{"_meta":{` + mcp.OwnServerInfo + `}}`, `{"serverInfo":{"name":"a","version":"1"}}`, `{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"b"}}}`,
	} {
		h.learn(&client.Answer{Result: json.RawMessage(result)})
	}
	if got := sorted(h.names); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("got %q, want a and b", got)
	}
}
