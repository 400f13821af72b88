package task

// OrphanPolicy says what becomes of a task whose holder died after its call was sent.
type OrphanPolicy string

const (
	// OrphanFail ends the task as failed and says that the tool may have run. It is the
	// zero value's meaning too.
	OrphanFail OrphanPolicy = "fail"
	// OrphanRerun sends the call again: for tools that may run twice.
	OrphanRerun OrphanPolicy = "rerun"
)

// StorePolicy says what becomes of a call whose task cannot be recorded because the
// store does not take it. Nothing was sent upstream by then.
type StorePolicy string

const (
	// StoreSync leaves the call a plain one. It is the zero value's meaning too.
	StoreSync StorePolicy = "sync"
	// StoreRefuse refuses the call before the tool runs.
	StoreRefuse StorePolicy = "refuse"
)
