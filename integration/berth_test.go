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

// upstreamsUsed counts berth's access records by the upstream they name.
func (b *berth) upstreamsUsed() map[string]int {
	used := make(map[string]int)
	for _, line := range b.output.lines() {
		var record struct {
			Upstream string `json:"upstream"`
		}
		if json.Unmarshal([]byte(line), &record) == nil && record.Upstream != "" {
			used[record.Upstream]++
		}
	}
	return used
}

// wantAllUsed is for fleets that do not count: it fails the test if no access record
// names some instance.
func (b *berth) wantAllUsed(t testing.TB, f fleet) {
	t.Helper()
	used := b.upstreamsUsed()
	for _, i := range f {
		if used[i.name] == 0 {
			t.Errorf("access records that name %s: got none, want some; records by upstream: %v", i.name, used)
		}
	}
}
