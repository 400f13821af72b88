package mcptest

import "net/http"

const (
	modernVersion  = "2026-07-28"
	latestLegacy   = "2025-11-25"
	batchVersion   = "2025-03-26" // the only one that has batches
	headerVersion  = "Mcp-Protocol-Version"
	extensionTasks = "io.modelcontextprotocol/tasks"
)

// legacyVersions are the eras with initialize that are served, newest first.
var legacyVersions = []string{latestLegacy, "2025-06-18", batchVersion}

func versionOf(r *http.Request) string { return r.Header.Get(headerVersion) }

// isModernVersion relies on versions being dates: later ones sort higher.
func isModernVersion(v string) bool { return v >= modernVersion }
