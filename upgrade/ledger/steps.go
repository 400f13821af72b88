package ledger

import (
	"sync"

	"berth/internal/storage"
)

// mostSteps is how many a creation, or an end, takes at most.
const mostSteps = 8

// stepRoom is room for the steps of one trip, which nobody has any more once that has ended.
type stepRoom [mostSteps]storage.Step

var stepRooms = sync.Pool{New: func() any { return new(stepRoom) }}

func takeStepRoom() *stepRoom { return stepRooms.Get().(*stepRoom) }

// giveBack keeps it for the next trip, and nothing of what was in it.
func (r *stepRoom) giveBack() {
	*r = stepRoom{}
	stepRooms.Put(r)
}
