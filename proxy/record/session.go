package record

import (
	"errors"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/proxy/failover"
	"berth/proxy/fault"
	"berth/proxy/outbound"
	"berth/routing"
	"berth/routing/profile"
	"berth/sticky"
)

// Head notes what the head of an answer says of sessions: which one initialize hands out, and
// that its client ended one, which it reports. One that its owner does not know any more stays bound until it idles
// out: the owner is who says so, and not every 404 of a server is about the session.
func (r *Recorder) Head(response *wire.Response) (ended bool) {
	r.NewSession = ""
	if response.Status/100 != 2 {
		return false
	}
	if c := r.Single(); c != nil && c.Method == mcp.MethodInitialize {
		r.NewSession = response.Header.Get(mcp.HeaderSession)
	}
	if r.Session != "" && r.HTTP.Method == wire.MethodDelete {
		r.SessionEnd()
		return true
	}
	return false
}

// NoteSessions notes whether an upstream, which has answered initialize, has handed out a session.
func (r *Recorder) NoteSessions(u *routing.Upstream) {
	if r.NewSession == "" {
		u.NoteSessions(profile.SessionsNone)
	} else {
		u.NoteSessions(profile.SessionsDemanded)
	}
}

// SessionEnd forgets the call's session, which has ended.
func (r *Recorder) SessionEnd() {
	ctx, cancel := r.Recording()
	defer cancel()
	failover.Forget(ctx, r.Endpoint, r.At.Key)
}

// BindSession binds the session that this answer hands out, if any: before its
// headers are released, and once more when the negotiated version is known only
// later. promised are the tasks that the answer promises, as sticky.Binding.Tasks has them.
func (r *Recorder) BindSession(w outbound.Way, u *routing.Upstream, version, promised string) error {
	if r.NewSession == "" || r.bound && version == "" {
		return nil
	}
	ctx, cancel := r.Recording()
	defer cancel()
	router := r.Endpoint.Router
	key := router.SessionKey(r.Principal, r.NewSession)
	binding := sticky.Binding{Upstream: u.Name, Session: seal.Digest(r.NewSession), Version: version, Tasks: promised, Declares: r.Sessions.Declared(r.Call)}
	handshake := failover.Beginning(w, key, version)
	if r.bound {
		router.Bindings.Amend(ctx, key, binding, handshake, r.Caller)
		return nil
	}
	r.bound = true
	r.Sessions.Revive(ctx, r.Call, r.NewSession)
	if errors.Is(router.BindBeside(ctx, key, binding, 0, sticky.Beside{Handshake: handshake, Caller: r.Caller}), sticky.ErrOwned) {
		return fault.Collision
	}
	return nil
}
