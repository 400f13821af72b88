package mcp

import (
	"errors"
	"unicode/utf8"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"
)

// Message is the body of a client's POST. A copy has the calls of the original.
type Message struct {
	Calls []Call // one, or the members of a batch, in order
	Batch bool   // the body is an array, of one member too

	single [1]Call // what Calls is where there is no batch
}

// Peek reads the body of a POST into m, in one walk; the strings that headers may say as well are Classify's
// to make. It returns the id of a single call, for answers to it. What is no message, or ambiguous,
// is refused with -32700 or -32600; of that m says only whether it is a batch of one.
func (m *Message) Peek(body []byte, maxBatch int) (id []byte, refused *Error) {
	*m = Message{}
	var ascii bool // it is known to be
	if IsBatch(body) {
		id, ascii, refused = m.peekBatch(body, maxBatch)
	} else {
		id, ascii, refused = m.peekSingle(body)
	}
	// What is not UTF-8 is no JSON, whatever else is wrong with it; what was refused was not read to its end.
	if !ascii && !utf8.Valid(body) {
		*m = Message{}
		return nil, errParse()
	}
	return id, refused
}

func (m *Message) peekSingle(body []byte) (id []byte, ascii bool, refused *Error) {
	call := &m.single[0]
	ascii, err := call.peek(body)
	if err != nil {
		refused = RefusalOf(err)
		if refused.Code == CodeParse {
			return nil, false, refused
		}
		return call.ID, false, refused
	}
	m.Calls = m.single[:]
	return call.ID, ascii, nil
}

func (m *Message) peekBatch(body []byte, limit int) (id []byte, ascii bool, refused *Error) {
	s := jsonscan.New(body)
	var calls []Call
	for more := s.Open('[') && s.Element(); more; {
		value := s.Value()
		more = s.Element()
		if value == nil {
			break
		}
		if len(calls) == limit {
			return nil, false, errInvalid("too many messages in one batch", "batch_too_large")
		}
		var call Call
		if _, err := call.peek(value); err != nil {
			if len(calls) == 0 && !more && s.Err() == nil {
				m.Batch = true
				return call.ID, false, RefusalOf(err)
			}
			return nil, false, RefusalOf(err)
		}
		calls = append(calls, call)
	}
	switch {
	case !s.End():
		return nil, false, errParse()
	case len(calls) == 0:
		return nil, false, errInvalid("an empty batch", "empty_batch")
	}
	m.Calls, m.Batch = calls, true
	return nil, s.IsASCII(), nil
}

// RefusalOf is the refusal of a message for what came of reading it.
func RefusalOf(err error) *Error {
	var ambiguous jsonobject.AmbiguousError
	var refused *Error
	switch {
	case errors.As(err, &refused):
		return refused
	case errors.As(err, &ambiguous):
		return errInvalid("two readers could understand this message differently", ambiguous.Reason)
	case errors.Is(err, jsonobject.ErrTooManyMembers):
		return errInvalid("an object has too many members", "too_many_members")
	}
	return errParse()
}

// PatchRequest patches a request that Peek takes. The error is an *Error.
func PatchRequest(p jsonobject.Patch, request []byte) ([]byte, error) {
	out, err := p.Apply(request)
	switch {
	case errors.Is(err, jsonobject.ErrNotObject):
		return nil, ErrParams("params or _meta is no object")
	case err != nil:
		return nil, RefusalOf(err)
	}
	return out, nil
}
