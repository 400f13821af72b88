package access

import (
	"time"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/outbound"
)

// reaction is how a pool answers a question.
type reaction struct {
	stance
	refusal *mcp.Error // with refusing
	until   time.Time
}

type stance int

const (
	mute     stance = iota // a redirect, a failure, or no answer
	taking                 // 2xx with what was asked for
	refusing               // 401 or 403
	evading                // any other answer
)

// readReaction reads the answer to the request with this id. About a task that nobody has, that there is none is what was
// asked for.
func readReaction(response *wire.Response, id []byte, ofNobodysTask bool, crossed func()) reaction {
	if refusal := outbound.CredentialsRefused(response); refusal != nil {
		return reaction{stance: refusing, refusal: refusal}
	}
	switch status := response.Status; {
	case status/100 == 3, status == wire.StatusTooManyRequests, status >= 500:
		return reaction{}
	case status/100 != 2:
		return reaction{stance: evading}
	}
	a, err := outbound.OwnAnswer(response, id, crossed)
	if err == nil && (a.HasResult || ofNobodysTask && a.ErrorCode == mcp.CodeInvalidParams) {
		return reaction{stance: taking}
	}
	return reaction{stance: evading}
}
