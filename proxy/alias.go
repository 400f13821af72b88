package proxy

import (
	"context"
	"encoding/base64"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/routing"
)

// sealAlias is what an alias is sealed for.
const sealAlias = "alias"

// sealedAlias is an upstream's id of a moved session as bindings hold it.
func (x *request) sealedAlias(id string) string {
	return base64.RawStdEncoding.EncodeToString(seal.Session(x.Session, sealAlias, []byte(id)))
}

// aliasIn opens what sealedAlias made. "" stays "".
func (x *request) aliasIn(sealed string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	data, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return "", err
	}
	id, err := seal.OpenSession(x.Session, sealAlias, data)
	return string(id), err
}

// openAlias reads the alias that the decision bears. One that cannot be opened is no
// way to the session.
func (x *request) openAlias() error {
	alias, err := x.aliasIn(x.decision.Alias)
	if err != nil {
		x.p.log.Warn("the alias of a session cannot be read", "pool", x.PoolName(), "error", err)
		return mcp.ErrUnknownSession
	}
	x.alias = alias
	return nil
}

// renameSession puts the upstream's own id of the session into the headers of a
// request, and takes the tag off what the client resumes from. An event id without
// the tag is another upstream's.
func (x *request) renameSession(h wire.Header) {
	if x.alias == "" {
		return
	}
	if h.Get(mcp.HeaderSession) != "" {
		h.Set(mcp.HeaderSession, x.alias)
	}
	if last := h.Get(mcp.HeaderLastEvent); last != "" {
		if id, ok := x.untaggedEvent(last); ok {
			h.Set(mcp.HeaderLastEvent, id)
		} else {
			h.Del(mcp.HeaderLastEvent)
		}
	}
}

// sessionAt is what u calls the session: also before the request is routed, when u is
// asked for a task that lives in it.
func (x *request) sessionAt(ctx context.Context, u *routing.Upstream) string {
	if x.decision.Owner.Is(u) && x.alias != "" {
		return x.alias
	}
	router := x.Endpoint.Router
	if !x.Endpoint.Reinit || x.decision.Owner != nil {
		return x.Session
	}
	binding, _, err := router.Bindings.Lookup(ctx, router.SessionKey(x.Principal, x.Session))
	if err != nil || binding.Upstream != u.Name {
		return x.Session
	}
	if alias, err := x.aliasIn(binding.Alias); err == nil && alias != "" {
		return alias
	}
	return x.Session
}
