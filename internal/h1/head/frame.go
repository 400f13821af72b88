package head

import (
	"slices"
	"strings"

	"berth/internal/h1/grammar"
)

// frame is what a head says of where its message ends, and whom it is for.
type frame struct {
	http10 bool
	host   bool  // seen
	length int64 // or Chunked, or NoLength
}

// framingField takes note of a field that frames.
type framingField func(f *frame, value []byte) error

// framing returns what takes note of the fields of a name (RFC 9112, 6), nil if they frame nothing.
func framing(name []byte) framingField {
	switch len(name) {
	case len("host"):
		if grammar.SameName(name, "host") {
			return (*frame).hostField
		}
	case len("content-length"):
		if grammar.SameName(name, "content-length") {
			return (*frame).contentLength
		}
	case len("transfer-encoding"):
		if grammar.SameName(name, "transfer-encoding") {
			return (*frame).transferEncoding
		}
	}
	return nil
}

// IsFramingAlias reports whether a field's name, spelt with underscores, is read by some servers as one that frames the body.
func IsFramingAlias(name string) bool {
	return strings.Contains(name, "_") && framing([]byte(name)) != nil
}

// unusual takes note of a field whose name is not a usual one.
func (f *frame) unusual(name, value []byte) error {
	note := framing(name)
	switch {
	case note == nil:
		return nil
	case slices.Contains(name, '_'):
		return errAlias
	}
	return note(f, value)
}

// contentLength takes one number, once. RFC 9112, 6.3 would merge equal ones, but nobody who means well
// repeats it.
func (f *frame) contentLength(value []byte) error {
	n, ok := grammar.Number(value, 10)
	switch {
	case f.length == Chunked:
		return errTwoFramings
	case f.length != NoLength || !ok:
		return errLength
	}
	f.length = n
	return nil
}

// transferEncoding takes the one coding that is undone here, and not from HTTP/1.0, whose readers
// would overlook it (RFC 9112, 6.1).
func (f *frame) transferEncoding(value []byte) error {
	switch {
	case f.length >= 0:
		return errTwoFramings
	case f.length == Chunked || f.http10 || !grammar.SameName(value, "chunked"):
		return errCoding
	}
	f.length = Chunked
	return nil
}

func (f *frame) hostField([]byte) error {
	if f.host {
		return errHost
	}
	f.host = true
	return nil
}

func (f *frame) completeRequest() error {
	if !f.host && !f.http10 {
		return errHost
	}
	return nil
}
