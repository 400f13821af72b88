package proxy

import (
	"strings"

	"berth/internal/wire"
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
	x.Ctx = x.HTTP.Context()
	x.rec.StartSpan()
	x.Decision.Source = routing.SourcePicked
	err := x.forwardUnbound()
	if err != nil && x.IsPreflight() && x.out.MayAnswer() && x.Word(err) != nil {
		x.out.Grant(x.Grantable())
		return nil
	}
	return err
}

// answersPreflight reports whether an upstream's answer to a preflight is one: it lets some
// page in, or it forbids, or it shows that it knows of such questions. Servers that do not
// have all sorts of answers.
func answersPreflight(response *wire.Response) bool {
	if response.Status == wire.StatusForbidden {
		return true
	}
	for _, f := range response.Header.Fields() {
		if strings.HasPrefix(f.Name, "Access-Control-") {
			return true
		}
	}
	return false
}
