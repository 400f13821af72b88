package proxy

import (
	"berth/routing"
)

// passThrough forwards what lies beside the MCP endpoint at the pool's origin,
// discovery documents and CORS preflights, to any upstream, unread. Preflights that no
// upstream answers are berth's to answer.
func (x *request) passThrough() error {
	if err := x.p.gate.SpareReserve(x.Call); err != nil {
		return err
	}
	x.Opaque = true
	x.ctx = x.HTTP.Context()
	x.rec.StartSpan()
	x.decision.Source = routing.SourcePicked
	err := x.forwardUnbound()
	if err != nil && x.IsPreflight() && x.out.MayAnswer() && x.Word(err) != nil {
		x.out.Grant(x.Grantable())
		return nil
	}
	return err
}
