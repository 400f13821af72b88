package proxy

import (
	"time"

	"berth/internal/mcp"
)

// beating keeps a request alive whose client counts only progress, for as long as the tool
// tells none.
type beating struct {
	token []byte           // of the request; nil: it gave none
	due   <-chan time.Time // progress is due; nil: none is
	beats int              // how often it was told
}

func (b *beating) begin(token []byte) {
	if b.token = token; token != nil {
		b.due = time.Tick(progressEvery)
	}
}

// rest ends it: the tool tells of its own.
func (b *beating) rest() { b.due = nil }

// beat returns the next progress of berth's own about a task, an event.
func (b *beating) beat(task string) []byte {
	b.beats++
	return event(mcp.MessageWithRelatedTask(mcp.NewProgress(b.token, ownProgress(b.beats), ""), task))
}
