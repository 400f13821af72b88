package api

import "strings"

// PathOfTask is a task's id as a segment of a path, before it is escaped. "." and "..", which servers may give out, would be taken
// out of the path on its way, however they are escaped: those, and what TaskOfPath would take for them, have a "~" put before.
func PathOfTask(id string) string {
	if isDots(strings.TrimLeft(id, "~")) {
		return "~" + id
	}
	return id
}

// TaskOfPath is the id that PathOfTask was given.
func TaskOfPath(segment string) string {
	if isDots(strings.TrimLeft(segment, "~")) {
		return strings.TrimPrefix(segment, "~")
	}
	return segment
}

func isDots(text string) bool { return text == "." || text == ".." }
