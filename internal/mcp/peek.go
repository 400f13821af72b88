package mcp

import (
	"errors"
	"unicode/utf8"

	"berth/internal/jsonscan"
)

// Message is the body of a client's POST. A copy has the calls of the original.
type Message struct {
	Calls []Call // one, or the members of a batch, in order
	Batch bool   // the body is an array, of one member too

	single [1]Call // what Calls is where there is no batch
}

// Peek reads the body of a POST into m, in one walk and without a copy; the strings are Classify's
// to make. It returns the id of a single call, for answers to it. What is no message, or ambiguous,
// is refused with -32700 or -32600; of that m says only whether it is a batch of one.
func (m *Message) Peek(body []byte, maxBatch int) (id []byte, refused *Error) {
	*m = Message{}
	switch {
	case !utf8.Valid(body):
		return nil, errParse()
	case isBatch(body):
		return m.peekBatch(body, maxBatch)
	}
	call := &m.single[0]
	if err := call.peek(body); err != nil {
		refused = refusal(err)
		if refused.Code == CodeParse {
			return nil, refused
		}
		return call.ID, refused
	}
	m.Calls = m.single[:]
	return call.ID, nil
}

func (m *Message) peekBatch(body []byte, limit int) (id []byte, refused *Error) {
	s := jsonscan.New(body)
	var calls []Call
	for more := s.Open('[') && s.Element(); more; {
		value := s.Value()
		more = s.Element()
		if value == nil {
			break
		}
		if len(calls) == limit {
			return nil, errInvalid("too many messages in one batch", "batch_too_large")
		}
		var call Call
		if err := call.peek(value); err != nil {
			if len(calls) == 0 && !more && s.Err() == nil {
				m.Batch = true
				return call.ID, refusal(err)
			}
			return nil, refusal(err)
		}
		calls = append(calls, call)
	}
	switch {
	case !s.End():
		return nil, errParse()
	case len(calls) == 0:
		return nil, errInvalid("an empty batch", "empty_batch")
	}
	m.Calls, m.Batch = calls, true
	return nil, nil
}

func refusal(err error) *Error {
	var ambiguous ambiguousError
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &ambiguous):
		return errInvalid("two readers could understand this message differently", ambiguous.reason)
	case errors.Is(err, errTooManyMembers):
		return errInvalid("an object has too many members", "too_many_members")
	}
	return errParse()
}
