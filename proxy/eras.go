package proxy

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/routing"
)

// eraSearch is the way of unbound work to an upstream that speaks its era, in a pool whose
// upstreams differ in that: a fleet in the middle of an upgrade.
type eraSearch struct {
	refused  []*routing.Upstream // they do not speak it, as they say
	response *wire.Response      // the last of those refusals, for the client if nobody does
}

// goesOn reports whether u has refused the request as of an era that it does not speak, and
// another upstream may take it: nothing of it was executed.
func (s *eraSearch) goesOn(x *request, u *routing.Upstream, response *wire.Response) bool {
	c := x.Single()
	if c == nil || x.Opaque || x.Session != "" || len(x.Pool().Upstreams()) < 2 {
		return false
	}
	era := x.Era()
	if !refusesEra(era, c.Method, c.ID, response) {
		if response.Status/100 == 2 {
			x.Pool().Speaks(u, era, s.refused)
		}
		return false
	}
	s.refused = append(s.refused, u)
	if !x.Pool().Refused(era, s.refused) {
		return false
	}
	s.drop()
	s.response, x.sent = response, false // nobody has taken it on
	to(x.Endpoint).noteAnswer(u, response)
	x.endExchange(strconv.Itoa(response.Status))
	return true
}

// drop lets go of a refusal that nobody is told of.
func (s *eraSearch) drop() {
	if s.response != nil {
		s.response.Body.Close()
		s.response = nil
	}
}

// relay passes the last refusal on to the client, which may fall back on it.
func (s *eraSearch) relay(x *request) error {
	u, response := s.refused[len(s.refused)-1], s.response
	s.response = nil
	x.upstream = u.Name
	return x.relayAnswer(u, response)
}

// errEra says that an upstream does not speak the era of a held call, and another does.
var errEra = errors.New("proxy: the upstream does not speak the era of the call")

// refusesHeld reports whether u has refused a held call of no session by its era, and another
// upstream has shown that it speaks that.
func (ep sender) refusesHeld(u *routing.Upstream, id []byte, response *wire.Response) bool {
	return ep.Router.Pool.SpokenElsewhere(u, mcp.EraModern) && refusesEra(mcp.EraModern, mcp.MethodCallTool, id, response)
}

// refusesEra reports whether an answer says that its server does not speak the era of the
// request with this method and id, so that nothing of it was executed. Where a tool may have
// run, only what comes from before the request was looked at counts. The answer can be read
// afterwards as it was.
func refusesEra(era mcp.Era, method string, id []byte, response *wire.Response) bool {
	opens := method == mcp.MethodDiscover || method == mcp.MethodInitialize
	switch status := response.Status; {
	case status == wire.StatusBadRequest:
	case opens && (status == wire.StatusNotFound || status == wire.StatusMethodNotAllowed):
	case method == mcp.MethodDiscover && status == wire.StatusOK: // -32601, of a server without sessions
	default:
		return false
	}
	body, message := peekRefusal(response, id)
	if message == nil {
		return response.Status != wire.StatusOK && (opens || speaksOfSession(body))
	}
	a, err := mcp.PeekAnswer(message, false)
	if err != nil || !a.IsError {
		return false
	}
	if response.Status == wire.StatusOK {
		return a.ErrorCode == mcp.CodeMethodNotFound
	}
	return isEraCode(era, opens, a.ErrorCode, a.Answers(id)) && !supportsEra(message, era)
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
	case codeNoSession, mcp.CodeInvalidRequest: // "no valid session", and versions that a legacy server does not know
		return era == mcp.EraModern && (opens || !own)
	}
	return false
}

// codeNoSession is what SDKs refuse requests with that lack a session (-32000, of servers'
// own making).
const codeNoSession = -32000

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
	text := strings.ToLower(string(body))
	return strings.Contains(text, "session") || strings.Contains(text, "protocol version")
}

// peekRefusal reads an answer as far as its JSON-RPC message, or maxRefusal, and puts back
// what it read. message is nil if there is none.
func peekRefusal(response *wire.Response, id []byte) (body, message []byte) {
	var read bytes.Buffer
	original := response.Body
	response.Body = io.NopCloser(io.TeeReader(io.LimitReader(original, maxRefusal), &read))
	whole, err := exchange.ReadWhole(response, id, maxRefusal, func() {})
	response.Body = rest{io.MultiReader(bytes.NewReader(read.Bytes()), original), original}
	if err != nil || exchange.ShapeOf(response) == exchange.Opaque || !mcp.MayBeMessage(whole) {
		return read.Bytes(), nil
	}
	return read.Bytes(), whole
}

// rest is a body of which a part was read and put back.
type rest struct {
	io.Reader
	io.Closer
}
