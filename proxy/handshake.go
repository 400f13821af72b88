package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/sticky"
)

// maxHandshake bounds what is kept of one session, in bytes. A session with more is
// not moved.
const maxHandshake = 64 << 10

// sealHandshake is what a handshake is sealed for.
const sealHandshake = "handshake"

var errHandshakeTooLarge = errors.New("proxy: handshake too large to be kept")

// handshake is what a client told its session's upstream, as far as another upstream
// has to be told the same. It holds no credentials: those of the request that moves
// the session count.
type handshake struct {
	Initialize []byte   `json:"initialize"`      // the client's message
	Version    string   `json:"version"`         // what it was answered with
	Level      []byte   `json:"level,omitempty"` // the last logging/setLevel; nil: none
	URIs       []string `json:"uris,omitempty"`  // resources subscribed to, in order
}

func (h *handshake) seal(session string) ([]byte, error) {
	data, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	if len(data) > maxHandshake {
		return nil, errHandshakeTooLarge
	}
	return seal.Session(session, sealHandshake, data), nil
}

func openHandshake(session string, sealed []byte) (*handshake, error) {
	data, err := seal.OpenSession(session, sealHandshake, sealed)
	if err != nil {
		return nil, err
	}
	h := new(handshake)
	if err := json.Unmarshal(data, h); err != nil {
		return nil, fmt.Errorf("proxy: handshake: %w", err)
	}
	return h, nil
}

// note takes in a request that the upstream has granted, and reports whether it is
// one to be repeated in a new session.
func (h *handshake) note(c *mcp.Call, body []byte) bool {
	switch c.Method {
	case mcp.MethodSetLevel:
		h.Level = body
	case mcp.MethodSubscribe:
		if uri := mcp.ResourceURI(body); uri != "" && !slices.Contains(h.URIs, uri) {
			h.URIs = append(h.URIs, uri)
		}
	case mcp.MethodUnsubscribe:
		uri := mcp.ResourceURI(body)
		h.URIs = slices.DeleteFunc(h.URIs, func(have string) bool { return have == uri })
	default:
		return false
	}
	return true
}

// keepHandshake keeps the beginning of the session that the answer hands out, once
// its version is known, and returns until when; zero: it is not kept.
func (x *request) keepHandshake(ctx context.Context, session sticky.Key, version string) time.Time {
	if !x.Endpoint.Reinit || version == "" {
		return time.Time{}
	}
	sealed, err := (&handshake{Initialize: x.Body, Version: version}).seal(x.newSession)
	if err == nil {
		var until time.Time
		if until, err = x.Endpoint.Router.Bindings.KeepHandshake(ctx, session, sealed); err == nil {
			return until
		}
	}
	x.p.log.Debug("the handshake of a session is not kept", "pool", x.PoolName(), "error", err)
	return time.Time{}
}

// recordHandshake adds a request that the upstream has granted to what is kept of its
// session, before the client learns of it.
func (x *request) recordHandshake(c *mcp.Call) {
	if !x.mayReopen() || !new(handshake).note(c, x.Body) {
		return
	}
	ctx, cancel := x.Recording()
	defer cancel()
	err := x.Endpoint.Router.Bindings.ReviseHandshake(ctx, x.decision.Key, func(sealed []byte) ([]byte, error) {
		h, err := openHandshake(x.Session, sealed)
		if err != nil {
			return nil, err
		}
		h.note(c, x.Body)
		next, err := h.seal(x.Session)
		if errors.Is(err, errHandshakeTooLarge) {
			return nil, nil
		}
		return next, err
	})
	if err != nil {
		x.p.log.Warn("a session's handshake could not be brought up to date: it would move without its last subscription or log level",
			"pool", x.PoolName(), "error", err)
	}
}

// forgetSession forgets a session that has ended.
func (x *request) forgetSession(ctx context.Context) {
	bindings := x.Endpoint.Router.Bindings
	bindings.Unbind(ctx, x.decision.Key)
	if x.Endpoint.Reinit {
		bindings.DropHandshake(ctx, x.decision.Key)
	}
}
