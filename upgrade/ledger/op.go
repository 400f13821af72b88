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

// Op returns a new op of this process. It is on the stack of whoever has it taken and does not keep it.
func (l *Ledger) Op(kind task.Kind) *task.Op {
	op := new(task.Op)
	l.begin(op, kind)
	return op
}

func (l *Ledger) begin(op *task.Op, kind task.Kind) {
	op.ID, op.Kind, op.At, op.Holder = l.ops.next(), kind, l.Clock.Now(), l.Holder
}
