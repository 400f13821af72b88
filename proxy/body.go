package proxy

import (
	"errors"
	"io"
	"os"
	"slices"
	"strings"
)

// read takes in the body, if there is one, within its limits. Its time runs since
// begin.
func (x *request) read() error {
	if slices.ContainsFunc(x.r.Header.Values("Content-Encoding"), func(v string) bool { return !strings.EqualFold(v, "identity") }) {
		return errEncodedBody
	}
	if x.r.ContentLength > x.p.limits.Body {
		return errBodyTooLarge
	}
	if x.r.ContentLength == 0 {
		return nil
	}
	body, err := readBounded(x.r.Body, x.r.ContentLength, x.p.limits.Body)
	switch {
	case errors.Is(err, errBodyTooLarge):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errBodySlow
	case err != nil:
		return errBodyUnread
	}
	x.body, x.bodyRead = body, true
	return nil
}

// readBounded reads at most limit bytes. Its buffer grows by four, so that what
// it outgrew is a fraction of what it holds.
func readBounded(r io.Reader, declared, limit int64) ([]byte, error) {
	size := int64(16 << 10)
	if declared > 0 {
		size = declared
	}
	buffer := make([]byte, 0, min(size, limit)+1)
	for {
		if len(buffer) == cap(buffer) {
			buffer = append(make([]byte, 0, min(4*int64(cap(buffer)), limit+1)), buffer...)
		}
		n, err := r.Read(buffer[len(buffer):cap(buffer)])
		buffer = buffer[:len(buffer)+n]
		if int64(len(buffer)) > limit {
			return nil, errBodyTooLarge
		}
		if errors.Is(err, io.EOF) {
			return buffer, nil
		}
		if err != nil {
			return nil, err
		}
	}
}
