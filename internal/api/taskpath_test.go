package api

import (
	"net/url"
	"path"
	"testing"
)

// Each id has a path that nobody cleans away, and no other id has the same.
func TestATasksPathIsItsOwn(t *testing.T) {
	seen := map[string]string{}
	for _, id := range []string{".", "..", "...", "~", "~.", "~..", "~~.", "~~..", "~a", "a", "./a", "../..", "%2e", "a/../b"} {
		segment := PathOfTask(id)
		if got := TaskOfPath(segment); got != id {
			t.Errorf("%q: %q is read as %q", id, segment, got)
		}
		whole := "/v1/tasks/" + url.PathEscape(segment)
		if path.Clean(whole) != whole {
			t.Errorf("%q: %s is cleaned", id, whole)
		}
		if other, twice := seen[segment]; twice {
			t.Errorf("%q and %q are both %q", id, other, segment)
		}
		seen[segment] = id
	}
}
