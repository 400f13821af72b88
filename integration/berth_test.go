package integration

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
)

// berth is one running berth in front of a fleet.
type berth struct {
	*process

	// base is http://host:port; the MCP endpoint is below it at /mcp.
	base string
}

func (b *berth) url() string { return b.base + "/mcp" }

// startBerth starts berth in front of a fleet, its upstreams named as the instances
// are, with args added to its command line. The test fails if the race detector
// found something in it.
func startBerth(t testing.TB, f fleet, args ...string) *berth {
	t.Helper()
	p, address := listen(t, "berth", func(address string) *exec.Cmd {
		line := []string{"serve", "--listen", address}
		for _, i := range f {
			line = append(line, "--upstream", i.name+"="+i.url())
		}
		return exec.Command(berthBinary, append(line, args...)...)
	})
	t.Cleanup(func() {
		if strings.Contains(p.output.String(), "WARNING: DATA RACE") {
			t.Errorf("berth has a data race:\n%s", &p.output)
		}
	})
	return &berth{process: p, base: "http://" + address}
}

// record is what these tests read of berth's access record of one request.
type record struct {
	Upstream string `json:"upstream"` // empty if none was asked
	Source   string `json:"source"`   // how the upstream was found
	Code     int    `json:"code"`     // of the JSON-RPC error, if berth gave one
}

// count is the number of access records by the field that key picks.
func (b *berth) count(key func(record) string) map[string]int {
	counts := make(map[string]int)
	for line := range strings.SplitSeq(b.settled(), "\n") {
		var r record
		if json.Unmarshal([]byte(line), &r) == nil && key(r) != "" {
			counts[key(r)]++
		}
	}
	return counts
}

// wantAllUsed is for fleets that do not count: it fails the test if no access record
// names some instance.
func (b *berth) wantAllUsed(t testing.TB, f fleet) {
	t.Helper()
	used := b.count(func(r record) string { return r.Upstream })
	for _, i := range f {
		if used[i.name] == 0 {
			t.Errorf("access records that name %s: got none, want some; records by upstream: %v", i.name, used)
		}
	}
}
