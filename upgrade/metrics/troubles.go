package metrics

import (
	"berth/internal/mcp"
	"berth/internal/trouble"
	"berth/upgrade/task"
)

// NoteOrphan notes a task whose holder is gone, and what became of it: "adopted" or "failed".
func (m *Metrics) NoteOrphan(t *task.Task, became, detail string) {
	m.Troubles.Note(trouble.Orphans, trouble.Event{Pool: t.Pool, ID: t.ID, What: became, Detail: detail})
}

// NoteLost notes a task that fails because its call was lost with who held it; one that fails otherwise is
// none.
func (m *Metrics) NoteLost(t *task.Task, failure *mcp.Error) {
	if failure.Reason == mcp.ReasonHolderLost {
		m.Troubles.Note(trouble.HolderLost, trouble.Event{Pool: t.Pool, ID: t.ID, What: failure.Reason, Detail: failure.Message})
	}
}
