package tasks

import (
	"berth/internal/mcp"
	"berth/internal/wire"
)

// refusesCall reports whether an answer to the request with this id says that the upstream has
// not taken the call on. body is whole, or the beginning of one that is too long for that. says is what it says, nil if nobody
// has looked, or could tell.
func refusesCall(status int, body, id []byte) (refuses bool, says *mcp.Answer) {
	if status/100 != 2 {
		return refusesByStatus(status), nil
	}
	says = new(mcp.Answer)
	if says.PeekTo("", body, false) != nil {
		return false, nil
	}
	return (says.Answers(id) || says.IsNobodys()) && judgesRequest(says), says
}

// refusesByStatus reports whether a status refuses a call, whatever the body says: that of the
// client's error; but 408, after which nobody knows what the tool did.
func refusesByStatus(status int) bool {
	return status/100 == 4 && status != wire.StatusRequestTimeout
}

// refusesOnStream is refusesCall for a message of an event stream.
func refusesOnStream(message, id []byte) bool {
	a, err := mcp.PeekAnswer(message, false)
	return err == nil && a.Answers(id) && judgesRequest(&a)
}

// judgesRequest reports whether an answer is an error about the request as such, and not
// one by which a tool fails.
func judgesRequest(a *mcp.Answer) bool { return a.IsError && mcp.JudgesRequest(a.ErrorCode) }
