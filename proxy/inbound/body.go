package inbound

import (
	"errors"
	"io"
	"os"
	"strings"

	"berth/internal/wire"
	"berth/proxy/fault"
)

// FirstRead is how much memory a body gets before any of it is there.
const FirstRead = 16 << 10

// IsSmall reports whether the body is announced, and no longer than Small.
func (x *Call) IsSmall() bool { return x.HTTP.ContentLength >= 0 && x.HTTP.ContentLength <= Small }

// Small is how large the body of a request may be that is looked at while memory is short, in
// bytes: it may be a poll, and those are answered for as long as possible.
const Small = 64 << 10

// Read takes in the body, if there is one, within its limits. Its time runs since
// the request began. hold is asked for the memory, of which room is taken first.
func (x Arrival) Read(room []byte, hold func(n int64) error) error {
	for coding := range x.HTTP.Header.Values("Content-Encoding") {
		if !strings.EqualFold(coding, "identity") {
			return fault.EncodedBody
		}
	}
	if x.HTTP.ContentLength > x.Settings.Limits.Body {
		return fault.BodyTooLarge
	}
	if x.HTTP.ContentLength == 0 {
		return nil
	}
	if x.HTTP.Method != wire.MethodPost {
		return x.readNone()
	}
	body, err := x.readBounded(x.HTTP.Body, room, hold)
	switch {
	case err == nil:
		x.Body, x.BodyRead = body, true
		return nil
	case errors.Is(err, fault.BodyTooLarge), errors.Is(err, fault.Overloaded):
		return err
	}
	return unread(err)
}

// readNone waits for the end of a body that is to have no byte: HTTP/2 may tell of it in a frame of its own, and HTTP/1.1 by an empty
// chunk. A request whose body has ended so has none.
func (x Arrival) readNone() error {
	var first [1]byte
	n, err := io.ReadFull(x.HTTP.Body, first[:])
	switch {
	case n > 0:
		return fault.BodyBesidePost
	case err != io.EOF: // as a reader returns it
		return unread(err)
	}
	x.HTTP.ContentLength = 0
	return nil
}

// unread is what is said of a body that err kept from being read.
func unread(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fault.BodySlow
	}
	return fault.BodyUnread
}

// readBounded reads the body within its limit. Memory for it is taken as it comes:
// who announces much and sends little holds little. The buffer grows by four, so that
// what it outgrew is a fraction of what it holds.
func (x Arrival) readBounded(r io.Reader, room []byte, hold func(n int64) error) ([]byte, error) {
	limit := x.Settings.Limits.Body
	most := limit + 1 // one more shows that it is too large, or that it has ended
	if declared := x.HTTP.ContentLength; declared > 0 {
		most = declared + 1
	}
	var buffer []byte
	for {
		if len(buffer) == cap(buffer) {
			size := min(max(FirstRead, 4*int64(cap(buffer))), most)
			if err := hold(size - int64(cap(buffer))); err != nil {
				return nil, err
			}
			if int64(cap(room)) >= size {
				buffer = append(room[:0:size], buffer...)
			} else {
				buffer = append(make([]byte, 0, size), buffer...)
			}
		}
		n, err := r.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if int64(len(buffer)) > limit {
			return nil, fault.BodyTooLarge
		}
		if err == io.EOF { // as a reader returns it
			return buffer, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
