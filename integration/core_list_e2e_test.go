//go:build e2e

package integration

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// A caller's list has its own tasks and nobody else's: those that its plain tools got, in
// whatever session, and those that the server has of its own in this one.
func TestListsHaveTasksOfBothKinds(t *testing.T) {
	t.Parallel()
	server := legacyServers[2]
	server.rules += "[auth]\nprincipal = \"header:X-User\"\n"
	c := startCoreBerths(t, 3, server)
	for _, user := range []string{"one", "another"} {
		want := map[string]bool{}
		earlier := openCoreAs(t, c.any, user)
		want[c.mustMake(t, earlier, "trigger-long-running-operation", map[string]any{"duration": 0.1, "steps": 1})] = true
		s := openCoreAs(t, c.any, user)
		want[c.mustMake(t, s, "trigger-long-running-operation", map[string]any{"duration": 0.2, "steps": 1})] = true
		want[c.mustMake(t, s, "simulate-research-query", map[string]any{"topic": user})] = true
		if got := s.list(t); !maps.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", user, slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
		}
	}
}

// mustMake makes a task through any berth.
func (c *coreBerths) mustMake(t testing.TB, s *coreSession, tool string, args map[string]any) string {
	t.Helper()
	id, err := s.make(c.any(), tool, args)
	if err != nil || id == "" {
		t.Fatalf("%s: got %q, %v, want a task", tool, id, err)
	}
	return id
}

// list pages through the tasks of the caller.
func (s *coreSession) list(t testing.TB) map[string]bool {
	t.Helper()
	listed, params := map[string]bool{}, map[string]any{}
	for {
		var page struct {
			Tasks      []coreTask `json:"tasks"`
			NextCursor string     `json:"nextCursor"`
		}
		got := s.insist(t, "tasks/list", params)
		if err := json.Unmarshal(got.Result, &page); err != nil {
			t.Fatalf("tasks/list: %v, %v", got.Error, err)
		}
		for _, task := range page.Tasks {
			listed[task.TaskID] = true
		}
		if page.NextCursor == "" {
			return listed
		}
		params["cursor"] = page.NextCursor
	}
}
