package mcp

import (
	"errors"
	"unicode/utf8"
)

// Message is the body of a client's POST.
type Message struct {
	Calls []Call // one, or the members of a batch, in order
	Batch bool   // the body is an array, of one member too
}

// Peek classifies the body of a POST without decoding more than it must. It
// returns the message and, for answers to it, the id of a single call. maxBatch
// bounds the members of a batch. What is no message, or could be read in two ways,
// is refused with -32700 or -32600; of what was refused the message says only
// whether it is a batch of one, whose member it was that is refused.
func Peek(body []byte, maxBatch int) (Message, []byte, *Error) {
	if !utf8.Valid(body) {
		return Message{}, nil, errParse()
	}
	if isBatch(body) {
		return peekBatch(body, maxBatch)
	}
	call, err := peekCall(body)
	if err != nil {
		e := refusal(err)
		if e.Code == CodeParse {
			return Message{}, nil, e
		}
		return Message{}, call.ID, e
	}
	return Message{Calls: []Call{call}}, call.ID, nil
}

func peekBatch(body []byte, limit int) (Message, []byte, *Error) {
	dec := newDecoder(body)
	if _, err := dec.ReadToken(); err != nil {
		return Message{}, nil, errParse()
	}
	msg := Message{Batch: true}
	for dec.PeekKind() != ']' {
		value, err := dec.ReadValue()
		if err != nil {
			return Message{}, nil, errParse()
		}
		if len(msg.Calls) == limit {
			return Message{}, nil, errInvalid("too many messages in one batch", "batch_too_large")
		}
		call, err := peekCall(value)
		switch {
		case err != nil && len(msg.Calls) == 0 && dec.PeekKind() == ']':
			return msg, call.ID, refusal(err)
		case err != nil:
			return Message{}, nil, refusal(err)
		}
		msg.Calls = append(msg.Calls, call)
	}
	if !endsClean(dec) {
		return Message{}, nil, errParse()
	}
	if len(msg.Calls) == 0 {
		return Message{}, nil, errInvalid("an empty batch", "empty_batch")
	}
	return msg, nil, nil
}

// refusal turns what Peek found into the answer for the client.
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
