package wire

import (
	"bytes"
	"cmp"
	"io"
	"strconv"
)

// Whole is an answer of berth's making that is one JSON message; nil: that has no body. Status 0 is StatusOK.
func Whole(status int, message []byte) *Response {
	status = cmp.Or(status, StatusOK)
	r := &Response{
		Status: status, Phrase: Phrase(status), Header: new(Header),
		Body: io.NopCloser(bytes.NewReader(message)), ContentLength: int64(len(message)), ProtoMajor: 1, ProtoMinor: 1, Own: true,
	}
	if message != nil {
		r.Header = NewHeader("Content-Type", "application/json", "Content-Length", strconv.Itoa(len(message)))
	}
	return r
}

// Kept is r with what may be kept when its body is closed. The body itself is r's.
func (r *Response) Kept() *Response {
	kept := *r
	kept.Header = r.Header.Clone()
	return &kept
}

// Streamed is an answer of berth's making that is an event stream.
func Streamed(events io.ReadCloser) *Response {
	return &Response{
		Status: StatusOK, Phrase: Phrase(StatusOK), Body: events, ContentLength: -1, ProtoMajor: 1, ProtoMinor: 1, Own: true,
		Header: NewHeader("Content-Type", "text/event-stream", "Cache-Control", "no-cache, no-transform"),
	}
}
