package proxy

import (
	"berth/internal/wire"
	"berth/routing"
)

// endSession serves a DELETE of a session at u in which calls are held. done is false for any
// other request, which goes to u.
func (x *request) endSession(u *routing.Upstream) (done bool, err error) {
	if x.HTTP.Method != wire.MethodDelete {
		return false, nil
	}
	way := x.Way()
	asks, ended, err := x.p.sessions.End(x.Ctx, way, &x.Decision)
	if !ended {
		return err != nil, err
	}
	x.recorder.SessionEnd()
	x.p.sessions.RefuseAsks(way, u, asks)
	x.out.Empty(wire.StatusOK)
	return true, nil
}
