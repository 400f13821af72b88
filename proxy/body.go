package proxy

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"

	"berth/proxy/fault"
)

// read takes in the body, if there is one, within its limits. Its time runs since
// begin.
func (x *request) read() error {
	if slices.ContainsFunc(x.r.Header.Values("Content-Encoding"), func(v string) bool { return !strings.EqualFold(v, "identity") }) {
		return fault.EncodedBody
	}
	if x.r.ContentLength > x.p.limits.Body {
		return fault.BodyTooLarge
	}
	if x.r.ContentLength == 0 {
		return nil
	}
	body, err := x.readBounded(x.r.Body)
	switch {
	case errors.Is(err, fault.BodyTooLarge), errors.Is(err, fault.Overloaded):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return fault.BodySlow
	case err != nil:
		return fault.BodyUnread
	}
	x.body, x.bodyRead = body, true
	return nil
}

// firstRead is how much memory a body gets before any of it is there.
const firstRead = 16 << 10

// readBounded reads the body within its limit. Memory for it is taken as it comes:
// who announces much and sends little holds little. The buffer grows by four, so that
// what it outgrew is a fraction of what it holds.
func (x *request) readBounded(r io.Reader) ([]byte, error) {
	limit := x.p.limits.Body
	most := limit + 1 // one more shows that it is too large, or that it has ended
	if declared := x.r.ContentLength; declared > 0 {
		most = declared + 1
	}
	var buffer []byte
	for {
		if len(buffer) == cap(buffer) {
			size := min(max(firstRead, 4*int64(cap(buffer))), most)
			if err := x.hold(size - int64(cap(buffer))); err != nil {
				return nil, err
			}
			buffer = append(make([]byte, 0, size), buffer...)
		}
		n, err := r.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if int64(len(buffer)) > limit {
			return nil, fault.BodyTooLarge
		}
		if errors.Is(err, io.EOF) {
			return buffer, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
