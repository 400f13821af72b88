package mcp

import (
	"encoding/json"

	"berth/internal/wire"
)

// Era tells the two families of protocol revisions apart.
type Era uint8

const (
	// EraLegacy has initialize and sessions: revisions 2024-11-05 to 2025-11-25.
	EraLegacy Era = iota
	// EraModern carries its metadata in each request, and mirrors it in headers: 2026-07-28 and
	// later.
	EraModern
)

// String returns "legacy" or "modern".
func (e Era) String() string {
	if e == EraModern {
		return "modern"
	}
	return "legacy"
}

// Revisions that change how berth treats a message.
const (
	// versionBatches is the only revision of Streamable HTTP with batches, and the one of clients
	// that name none (2025-11-25, "Protocol Version Header").
	versionBatches = "2025-03-26"
	versionModern  = "2026-07-28" // the first revision of the modern era
)

// VersionCoreTasks is the one revision whose core has tasks; after it they are an extension.
const VersionCoreTasks = "2025-11-25"

// TasksExtension is the identifier of the Tasks extension.
const TasksExtension = "io.modelcontextprotocol/tasks"

// Names of reserved `_meta` members (2026-07-28, basic, "_meta").
const (
	MetaClientInfo   = "io.modelcontextprotocol/clientInfo"
	MetaVersion      = "io.modelcontextprotocol/protocolVersion"
	MetaCapabilities = "io.modelcontextprotocol/clientCapabilities"
)

// Dialect is a wire shape of tasks.
type Dialect uint8

const (
	DialectNone      Dialect = iota // no task shape was seen
	DialectCore                     // the shape of revision 2025-11-25: `result.task.taskId`
	DialectExtension                // the Tasks extension: `resultType: "task"`
	DialectDraft                    // the first draft of tasks, in which the client makes the id
)

// String returns the name used in stored bindings: "core", "extension", "draft" or "".
func (d Dialect) String() string { return [...]string{"", "core", "extension", "draft"}[d] }

// isRevision reports whether v has the form YYYY-MM-DD, which orders by time.
func isRevision(v string) bool {
	if len(v) != len("2006-01-02") {
		return false
	}
	for i := range len(v) {
		if dash := i == 4 || i == 7; dash != (v[i] == '-') || !dash && (v[i] < '0' || v[i] > '9') {
			return false
		}
	}
	return true
}

// IsModern reports whether version names a modern revision. A draft's name is not known to be one.
func IsModern(version string) bool {
	return version == versionModern || isRevision(version) && version > versionModern
}

// IsLegacy reports whether version names a revision of the legacy era.
func IsLegacy(version string) bool { return isRevision(version) && version < versionModern }

// AllowsBatches reports whether a client of this version may send a batch. None means 2025-03-26.
func AllowsBatches(version string) bool {
	return version == "" || isRevision(version) && version <= versionBatches
}

// SupportedVersions returns the versions that an error response says that its server speaks
// (2026-07-28, UnsupportedProtocolVersionError).
func SupportedVersions(message []byte) []string {
	var m struct {
		Error struct {
			Data struct {
				Supported []string `json:"supported"`
			} `json:"data"`
		} `json:"error"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	return m.Error.Data.Supported
}

// MarksModern reports whether headers are those of a modern request: of its version, or of one that
// nobody knows and that mirrors its method, which only modern clients do.
func MarksModern(h *wire.Header) bool {
	version := h.Get(HeaderVersion)
	return IsModern(version) || version != "" && !isRevision(version) && h.Has(HeaderMethod)
}
