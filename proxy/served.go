package proxy

import (
	"berth/internal/mcp"
	"berth/proxy/fault"
)

// checkServed refuses a request for what a server must not let pass. It is called where
// berth itself is the server: of what it passes on the upstream judges.
func (x *request) checkServed() error {
	if !x.DeclaresJSON() {
		return fault.ContentType
	}
	if !x.TakesAnswers() {
		return fault.Accept
	}
	if x.Era() == mcp.EraLegacy {
		return x.CheckLegacyVersion()
	}
	missing, refusal := x.Single().CheckServed(x.HTTP.Header, x.Endpoint.Lenient)
	if refusal != nil {
		return refusal
	}
	for _, header := range missing {
		x.rec.Lacked(header)
	}
	return nil
}
