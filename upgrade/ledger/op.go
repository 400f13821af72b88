package ledger

import (
	"strconv"
	"sync/atomic"

	"berth/upgrade/task"
)

// ops names the ops of this process: no other one's has the begin of their names, and none of its own the rest. Nobody is kept out
// by a name that cannot be guessed: records hold them, and no client sees one.
type ops struct {
	begin string
	count atomic.Uint64
}

func newOps() *ops { return &ops{begin: task.NewName(6)} }

func (o *ops) next() string {
	var room [24]byte
	return string(strconv.AppendUint(append(room[:0], o.begin...), o.count.Add(1), 36))
}

// Op returns a new op of this process.
func (l *Ledger) Op(kind task.Kind) *task.Op {
	return &task.Op{ID: l.ops.next(), Kind: kind, At: l.Clock.Now(), Holder: l.Holder}
}
