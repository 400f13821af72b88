package metrics

import (
	"time"

	"berth/internal/mcp"
	"berth/routing"
	"berth/upgrade/task"
)

// Round is a round of a held call that is over, for who traces it.
type Round struct {
	Task    *task.Task // as it stands
	At      *routing.Upstream
	Outcome string      // as Metrics.Round counts it
	Answer  *mcp.Answer // nil: none came, or the client has it
	Err     error       // why none came
	Begun   time.Time
}

// Trace has a round traced whose task comes from a request that is.
func (m *Metrics) Trace(r Round) {
	if m.Traced != nil && r.Task.Origin != "" {
		m.Traced(r)
	}
}
