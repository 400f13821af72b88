package demo

// A Kind is a sort of MCP client, by how its calls could find their way back.
type Kind int

// The kinds of clients.
const (
	// Modern speaks 2026-07-28: routing headers, tasks of the extension.
	Modern Kind = iota
	// LegacySession speaks 2025-11-25 with a session and core tasks.
	LegacySession
	// LegacySessionless speaks 2025-11-25 without initialize: nothing but the
	// task id in the body says where a poll belongs.
	LegacySessionless
)

var kinds = []Kind{Modern, LegacySession, LegacySessionless}

// String names the kind in the report.
func (k Kind) String() string {
	switch k {
	case Modern:
		return "2026-07-28"
	case LegacySession:
		return "2025-11-25 with sessions"
	case LegacySessionless:
		return "2025-11-25 without"
	}
	return "unknown kind"
}
