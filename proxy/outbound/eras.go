package outbound

import (
	"bytes"
	"errors"
	"io"
	"strings"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/offer"
	"berth/internal/wire"
	"berth/routing"
)

// refusesHeld reports whether u has refused a held call of no session by its era, and another
// upstream has shown that it speaks that.
func (s Sender) refusesHeld(u *routing.Upstream, id []byte, response *wire.Response) bool {
	return s.Router.Pool.SpokenElsewhere(u, mcp.EraModern) && RefusesEra(mcp.EraModern, mcp.MethodCallTool, id, response)
}

// RefusesEra reports whether an answer says that its server does not speak the era of the
// request with this method and id, so that nothing of it was executed. Where a tool may have
// run, only what comes from before the request was looked at counts. The answer can be read
// afterwards as it was.
func RefusesEra(era mcp.Era, method string, id []byte, response *wire.Response) bool {
	opens := method == mcp.MethodDiscover || method == mcp.MethodInitialize
	switch status := response.Status; {
	case status == wire.StatusBadRequest:
	case opens && (status == wire.StatusNotFound || status == wire.StatusMethodNotAllowed):
	case method == mcp.MethodDiscover && status == wire.StatusOK: // -32601, of a server without sessions, or a list without the era
	default:
		return false
	}
	body, message := peekRefusal(response, id)
	if message == nil {
		return response.Status != wire.StatusOK && (opens || speaksOfSession(body))
	}
	a, err := mcp.PeekAnswer(message, false)
	switch {
	case err != nil:
		return false
	case response.Status == wire.StatusOK:
		return a.IsError && a.ErrorCode == mcp.CodeMethodNotFound || era == mcp.EraModern && offer.In(a.Result).IsLegacyAlone()
	case !a.IsError:
		return false
	}
	return isEraCode(era, opens, a.ErrorCode, a.Answers(id)) && !supportsEra(message, era)
}

// DemandsSession reports whether an answer says that its server takes a request of the legacy era with this method and id in a session
// alone, so that nothing of it was executed: it says so before it looks at the request, without the id. The answer can be read afterwards as it was.
func DemandsSession(method string, id []byte, response *wire.Response) bool {
	if method == mcp.MethodInitialize || !DeniesSession(response.Status) {
		return false
	}
	body, message := peekRefusal(response, id)
	if message == nil {
		return speaksOf(body, "session")
	}
	a, err := mcp.PeekAnswer(message, false)
	return err == nil && a.IsError && !a.Answers(id) && speaksOf(mcp.ErrorObject(message), "session")
}

// RefusesDiscover reports whether an answer to a server/discover of berth's own is one by which a client falls back to initialize:
// any refusal but those of the modern era itself (2026-07-28, "Backward Compatibility with Initialization-Based Versions"), and a
// result that lists versions of the legacy era alone.
// Whether the server opens a session tells what it speaks then. The answer can be read afterwards as it was.
func RefusesDiscover(response *wire.Response) bool {
	switch status := response.Status; {
	case status == wire.StatusOK:
	case wire.RefusesCredentials(status), status == wire.StatusRequestTimeout, status == wire.StatusTooManyRequests:
		return false
	case status/100 == 4:
	default:
		return false
	}
	_, message := peekRefusal(response, []byte(OwnID))
	a, err := mcp.PeekAnswer(message, false)
	if message == nil || err != nil || !a.IsError {
		return response.Status != wire.StatusOK || offer.In(a.Result).IsLegacyAlone()
	}
	switch a.ErrorCode {
	case mcp.CodeHeaderMismatch, mcp.CodeMissingCapability:
		return false
	}
	return !supportsEra(message, mcp.EraModern)
}

// DoubtsEra reports whether an answer to a request of the modern era with this id, which refuses no era by RefusesEra, may still be
// that of a server of the legacy one: a refusal in HTTP that is no error response to that request, or one in a code that such servers use.
// A tool may have run. The answer can be read afterwards as it was.
func DoubtsEra(id []byte, response *wire.Response) bool {
	if response.Status == wire.StatusOK || !RefusesDiscover(response) {
		return false
	}
	_, message := peekRefusal(response, id)
	a, err := mcp.PeekAnswer(message, false)
	if message == nil || err != nil || !a.IsError || !a.Answers(id) {
		return true
	}
	return a.ErrorCode != mcp.CodeMethodNotFound && isEraCode(mcp.EraModern, true, a.ErrorCode, true)
}

// isEraCode reports whether an error code means that the era is not spoken; own says that the
// error bears the request's id: one from before the request was looked at does not.
func isEraCode(era mcp.Era, opens bool, code int, own bool) bool {
	switch code {
	case mcp.CodeUnsupportedVersion:
		return true
	case mcp.CodeHeaderMismatch: // legacy requests lack the headers that modern servers demand
		return era == mcp.EraLegacy
	case mcp.CodeMethodNotFound:
		return opens
	case mcp.CodeBadRequest, mcp.CodeInvalidRequest: // "no valid session", and versions that a legacy server does not know
		return era == mcp.EraModern && (opens || !own)
	}
	return false
}

// supportsEra reports whether a refusal lists a version of that era as one that the server
// speaks: then it is about the version alone.
func supportsEra(message []byte, era mcp.Era) bool {
	for _, version := range mcp.SupportedVersions(message) {
		if mcp.IsModern(version) == (era == mcp.EraModern) {
			return true
		}
	}
	return false
}

// speaksOfSession: SDKs for Go refuse in plain words what lacks a session, or is of a version
// that they do not know.
func speaksOfSession(body []byte) bool {
	return speaksOf(body, "session") || speaksOf(body, "protocol version")
}

func speaksOf(body []byte, what string) bool {
	return strings.Contains(strings.ToLower(string(body)), what)
}

// peekRefusal reads an answer as far as its JSON-RPC message, or MaxRefusal, and puts back
// what it read. message is nil if there is none.
func peekRefusal(response *wire.Response, id []byte) (body, message []byte) {
	var read bytes.Buffer
	original := response.Body
	response.Body = io.NopCloser(io.TeeReader(io.LimitReader(original, MaxRefusal), &read))
	whole, err := exchange.ReadWhole(response, id, MaxRefusal, func() {})
	response.Body = rest{io.MultiReader(bytes.NewReader(read.Bytes()), original), original}
	if err != nil || exchange.ShapeOf(response) == exchange.Opaque || !mcp.MayBeMessage(whole) {
		return read.Bytes(), nil
	}
	return read.Bytes(), whole
}

// ErrEra says that an upstream does not speak the era of a held call, and another does.
var ErrEra = errors.New("proxy: the upstream does not speak the era of the call")

// rest is a body of which a part was read and put back.
type rest struct {
	io.Reader
	io.Closer
}

// MaxRefusal bounds what is read of a refusal, in bytes.
const MaxRefusal = 64 << 10
