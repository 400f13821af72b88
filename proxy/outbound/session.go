package outbound

import (
	"context"
	"encoding/base64"
	"strings"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/idtag"
	"berth/internal/seal"
	"berth/internal/sse"
	"berth/internal/wire"
	"berth/routing"
)

// renameSession puts the upstream's own id of the session into the headers of a
// request, and takes the tag off what the client resumes from. An event id without
// the tag is another upstream's.
func (w Way) renameSession(h *wire.Header) {
	if w.Alias == "" {
		return
	}
	if h.Get(mcp.HeaderSession) != "" {
		h.Set(mcp.HeaderSession, w.Alias)
	}
	if last := h.Get(mcp.HeaderLastEvent); last != "" {
		if id, ok := w.untaggedEvent(last); ok {
			h.Set(mcp.HeaderLastEvent, id)
		} else {
			h.Del(mcp.HeaderLastEvent)
		}
	}
}

// Tag is what stands, in a session that has moved, before the numbers that the
// session's present upstream makes; see idtag.Event.
func (w Way) Tag() string { return "berth-" + seal.Digest(w.Alias)[:8] + "-" }

func (w Way) untaggedEvent(id string) (string, bool) {
	return strings.CutPrefix(id, w.Tag())
}

// Tagged returns the bytes of an event, with the tag where the session has moved. One of an upstream that the session has left
// bears no id: nobody is led there by it.
func (w Way) Tagged(piece exchange.Piece) []byte {
	raw := piece.Raw
	if w.Alias != "" {
		message := piece.Message
		if piece.Cut {
			message = nil // only its beginning is here
		}
		raw = idtag.Event(raw, message, w.Tag())
	}
	if w.Left {
		raw = sse.WithoutID(raw)
	}
	return raw
}

// AliasIn opens what SealedAlias made. "" stays "".
func (w Way) AliasIn(sealed string) (string, error) {
	if sealed == "" {
		return "", nil
	}
	data, err := base64.RawStdEncoding.DecodeString(sealed)
	if err != nil {
		return "", err
	}
	id, err := seal.OpenSession(w.Session, sealAlias, data)
	return string(id), err
}

// sealAlias is what an alias is sealed for.
const sealAlias = "alias"

// SealedAlias is an upstream's id of a moved session as bindings hold it.
func (w Way) SealedAlias(id string) string {
	return base64.RawStdEncoding.EncodeToString(seal.Session(w.Session, sealAlias, []byte(id)))
}

// SessionAt is what u calls the session: also before the request is routed, when u is
// asked for a task that lives in it.
func (w Way) SessionAt(ctx context.Context, u *routing.Upstream) string {
	if w.Owner.Is(u) && w.Alias != "" {
		return w.Alias
	}
	router := w.Endpoint.Router
	if !w.Endpoint.Reinit || w.Owner != nil {
		return w.Session
	}
	binding, _, err := router.Bindings.Lookup(ctx, router.SessionKey(w.Principal, w.Session))
	if err != nil || binding.Upstream != u.Name {
		return w.Session
	}
	if alias, err := w.AliasIn(binding.Alias); err == nil && alias != "" {
		return alias
	}
	return w.Session
}
