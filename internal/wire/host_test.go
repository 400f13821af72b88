package wire_test

import (
	"testing"

	"berth/internal/wire"
)

// An address is one, however it is written, and names are no addresses.
func TestHostName(t *testing.T) {
	for host, want := range map[string]string{
		"mcp.example":         "mcp.example",
		"MCP.Example":         "MCP.Example",
		"192.0.2.1":           "192.0.2.1",
		"":                    "",
		"2001:db8::5":         "2001:db8::5",
		"2001:DB8:0::5":       "2001:db8::5",
		"2001:db8:0:0:0::5":   "2001:db8::5",
		"0:0:0:0:0:0:0:1":     "::1",
		"1:0:0:2:0:0:0:3":     "1:0:0:2::3",
		"::ffff:192.0.2.1":    "::ffff:c000:201",
		"::FFFF:C000:0201":    "::ffff:c000:201",
		"::ffff:0.0.0.0":      "::ffff:0:0",
		"fe80::0:1%eth0":      "fe80::1%eth0",
		"2001:db8::5:mcp":     "2001:db8::5:mcp",
		"mcp.example:8080":    "mcp.example:8080",
		"2001:db8::192.0.2.1": "2001:db8::c000:201",
	} {
		if got := wire.HostName(host); got != want {
			t.Errorf("%s: got %s, want %s", host, got, want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { wire.HostName("mcp.example") }); n != 0 {
		t.Errorf("a name costs %v allocations", n)
	}
}
