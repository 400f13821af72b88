package failover

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"berth/proxy/inbound"
	"berth/proxy/outbound"
	"berth/proxy/session"
	"berth/routing"
	"berth/sticky"
)

// Beginning is what is kept of the session that the answer to an initialize hands out, once its version is known; "":
// it is not kept.
func Beginning(w outbound.Way, session sticky.Key, version string) string {
	if !w.Endpoint.Reinit || version == "" {
		return ""
	}
	sealed, err := (&handshake{Initialize: w.Body, Version: version}).seal(session.ID)
	if err != nil {
		w.Log.Debug("the handshake of a session is not kept", "pool", w.PoolName(), "error", err)
		return ""
	}
	return string(sealed)
}

// Granted adds a request that the session's upstream has granted to what is kept of the
// session, before the client learns of it.
func Granted(c Case) {
	if c.MayReopen() && new(handshake).note(c.Single(), c.Body) {
		revise(c)
	}
}

func revise(c Case) {
	ctx, cancel := c.Recording()
	defer cancel()
	err := c.Endpoint.Router.Bindings.ReviseHandshake(ctx, c.At.Key, c.Caller, func(sealed []byte) ([]byte, error) {
		h, err := openHandshake(c.Session, sealed)
		if err != nil {
			return nil, err
		}
		h.note(c.Single(), c.Body)
		next, err := h.seal(c.Session)
		if errors.Is(err, errHandshakeTooLarge) {
			return nil, nil
		}
		return next, err
	})
	if err != nil {
		c.Log.Warn("a session's handshake could not be brought up to date: it would move without its last subscription or log level",
			"pool", c.PoolName(), "error", err)
	}
}

// EndFormers ends a session, which its client has ended, at the upstreams that it has left as well: whoever asked the fleet for
// it would find it there.
func EndFormers(w outbound.Way, at *routing.Decision) {
	var ends sync.WaitGroup
	defer ends.Wait()
	for _, place := range at.Binding.Formers() {
		former := w.Pool().Find(place.Upstream)
		if former == nil || former.Silent() {
			continue
		}
		alias, err := w.AliasIn(place.Alias)
		if err != nil {
			continue
		}
		standing := session.For(w).Standing(former, cmp.Or(alias, w.Session), at.Binding.Version)
		ends.Go(func() { standing.End(w.HTTP.Context()) })
	}
}

// Forget forgets a session that has ended.
func Forget(ctx context.Context, ep *inbound.Endpoint, session sticky.Key) {
	bindings := ep.Router.Bindings
	bindings.Unbind(ctx, session)
	if ep.Reinit {
		bindings.DropHandshake(ctx, session)
	}
}
