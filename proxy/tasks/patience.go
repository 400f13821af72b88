package tasks

import "time"

// patience is how long the client of a call waits before it is given the task.
type patience struct {
	after   time.Duration // for the answer, whatever that is
	grace   time.Duration // for a refusal alone; from the same moment
	lasting bool          // the task does not depend on the client: others may have the handle
}

func (p patience) most() time.Duration { return max(p.after, p.grace) }

// withhold is how long the client may yet get something else than the handle.
func (p patience) withhold() time.Duration {
	if p.most() == 0 {
		return 0
	}
	return p.most() + judgeTime
}

// judgeTime bounds for how long the clock of a client stands while a refusal is judged.
const judgeTime = 6 * time.Second
