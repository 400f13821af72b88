package tasks

import (
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/audit"
	"berth/proxy/fault"
	"berth/upgrade"
)

// beginLasting starts a call and hands its task out, whether the client is there still or
// not, once it has waited for a refusal.
func (r *Request) beginLasting(held *upgrade.Held, p patience) error {
	if p.most() > 0 {
		return r.awaitAnswer(held, p)
	}
	view := upgrade.View{Task: held.Task()}
	held.Start(nil)
	defer held.Handed()
	return held.HandOut(func() error { return r.handOut(&view) })
}

// handUnlessGone gives the client the task's handle as the whole answer.
func (r *Request) handUnlessGone(held *upgrade.Held) error {
	if r.HTTP.Context().Err() != nil {
		return fault.ErrClientGone
	}
	return r.handOut(&upgrade.View{Task: held.Task()})
}

// handOut answers with the handle of the task in view.
func (r *Request) handOut(view *upgrade.View) error {
	r.Rec.Task, r.Rec.Holder = view.ID, view.Holder
	r.Rec.Does(audit.Made, view.ID)
	r.Out.Respond(wire.StatusOK, r.handle(view))
	if r.Out.Failed != nil {
		return r.Out.Failed
	}
	return r.Out.Flush()
}

// handle is the response to the call with the handle of the task that it has become, as the client's era has it.
func (r *Request) handle(view *upgrade.View) []byte {
	if r.Era() == mcp.EraLegacy {
		return mcp.Response(r.ID, view.Core().Handle())
	}
	return view.Handle(r.ID)
}
