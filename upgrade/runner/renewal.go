package runner

import (
	"sync/atomic"

	"berth/internal/wire"
	"berth/upgrade/task"
)

// renewal is what the caller of a held call bears by now: it may be asked for once an upstream refuses what the call was made
// with. It implements exchange.Renewal.
type renewal struct {
	with  atomic.Pointer[task.Envelope] // nil: nothing else than the call
	state atomic.Int32
	among *atomic.Int32 // counts the calls of this process that are wanting
}

// States of a renewal.
const (
	content int32 = iota
	wanting       // of what the caller's next request bears
	past          // the call is not held any more
)

// Refused implements exchange.Renewal.
func (n *renewal) Refused() {
	if n.state.CompareAndSwap(content, wanting) {
		n.among.Add(1)
	}
}

// Header implements exchange.Renewal.
func (n *renewal) Header() *wire.Header {
	with := n.with.Load()
	if with == nil {
		return nil
	}
	return (&task.Call{Envelope: *with}).Headers()
}

// bring has what is sent for the call from now on bear this; nil changes nothing.
func (n *renewal) bring(with *task.Envelope) {
	if with == nil {
		return
	}
	n.with.Store(with)
	if n.state.CompareAndSwap(wanting, content) {
		n.among.Add(-1)
	}
}

// end has nothing be wanted any more.
func (n *renewal) end() {
	if n.state.Swap(past) == wanting {
		n.among.Add(-1)
	}
}

// Wants reports whether an upstream refuses what authorises a call that is held here, so that what its caller bears by now is of use.
func (r *Runner) Wants(id string) bool {
	if r.wanting.Load() == 0 {
		return false
	}
	h := r.Calls.Get(id)
	return h != nil && h.renewal.state.Load() == wanting
}

// Renew has what is sent for a held call bear from now on what its caller does by now. The rounds that are due stay as they are.
func (r *Runner) Renew(id string, with *task.Envelope) {
	if h := r.Calls.Get(id); h != nil {
		h.renewal.bring(with)
	}
}

// renewed is the call with what its caller bears by now.
func (h *Held) renewed() *task.Call {
	c := h.call.Unpack()
	if with := h.renewal.with.Load(); with != nil {
		c.Envelope = *with
	}
	return c
}
