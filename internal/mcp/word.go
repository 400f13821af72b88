package mcp

import "slices"

var words = map[string]string{}

func init() {
	for _, w := range slices.Concat(knownMethods, []string{
		MethodTaskStatus, NotificationTask,
		"complete", "task", ResultInputRequired, "working", "completed", "failed", "cancelled", "submitted",
		"2024-11-05", versionBatches, "2025-06-18", VersionCoreTasks, versionModern,
	}) {
		words[w] = w
	}
}

// word returns b as a string, without a copy where it is one of words.
func word(b []byte) string {
	if w, ok := words[string(b)]; ok {
		return w
	}
	return string(b)
}
