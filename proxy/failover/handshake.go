package failover

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/proxy/inbound"
	"berth/proxy/session"
)

// maxHandshake bounds what is kept of one session, in bytes. A session with more is
// not moved.
const maxHandshake = 64 << 10

// keptBeside is more than a handshake takes beside the client's message.
const keptBeside = 128

// sealHandshake is what a handshake is sealed for.
const sealHandshake = "handshake"

var (
	errHandshakeTooLarge = errors.New("failover: handshake too large to be kept")
	errVersionDiffers    = errors.New("failover: the upstream negotiates another protocol version")
)

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

// RoomFor is how many bytes may be kept of the session that an initialize of such a pool opens, beside its binding.
func RoomFor(call *inbound.Call) int {
	size := base64.StdEncoding.EncodedLen(len(call.Body)) + keptBeside
	if !call.Endpoint.Reinit || size > maxHandshake {
		return 0
	}
	return size
}

func openHandshake(session string, sealed []byte) (*handshake, error) {
	data, err := seal.OpenSession(session, sealHandshake, sealed)
	if err != nil {
		return nil, err
	}
	h := new(handshake)
	if err := json.Unmarshal(data, h); err != nil {
		return nil, fmt.Errorf("failover: handshake: %w", err)
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

// opening is how the session is opened anew for the request of c.
func (h *handshake) opening(c *inbound.Call) session.Opening {
	o := session.Opening{Initialize: h.Initialize, Accept: h.accept}
	if call := c.Single(); call != nil {
		o.Announced = call.Method == mcp.MethodInitialized
	}
	if h.Level != nil {
		o.Then = append(o.Then, h.Level)
	}
	for _, uri := range h.URIs {
		body, _ := json.Marshal(map[string]any{ // strings and maps always marshal
			"jsonrpc": "2.0", "id": 0, "method": mcp.MethodSubscribe, "params": map[string]any{"uri": uri},
		})
		o.Then = append(o.Then, body)
	}
	return o
}

// accept: the client goes on in what it negotiated, so that the version must be the same.
func (h *handshake) accept(s *session.Session) error {
	switch {
	case s.ID == "":
		return session.ErrRefused
	case s.Version != h.Version:
		return errVersionDiffers
	}
	return nil
}
