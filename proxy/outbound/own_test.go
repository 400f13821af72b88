package outbound

import (
	"testing"

	"berth/internal/mcp"
)

// No two requests of berth's own in a session bear one id.
func TestNoIDIsUsedTwice(t *testing.T) {
	seen := map[string]bool{OwnID: true}
	for _, request := range [][]byte{OwnPing(), OwnPing(), OwnMessage(mcp.MethodListTools, nil), OwnMessage(mcp.MethodListTools, nil)} {
		id := string(mcp.ID(request))
		if seen[id] {
			t.Errorf("%s is under an id that was used", request)
		}
		seen[id] = true
	}
}
