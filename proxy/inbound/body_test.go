package inbound

import (
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"berth/internal/wire"
	"berth/proxy/fault"
)

// Whether a request beside a POST has a body is known where its length is, and else once its first byte or its end has come.
func TestABodyOfUnknownLengthIsLookedAt(t *testing.T) {
	slow := iotest.ErrReader(os.ErrDeadlineExceeded)
	for name, c := range map[string]struct {
		method string
		length int64
		body   io.Reader
		want   error
		looked bool
	}{
		"none":                {wire.MethodDelete, 0, slow, nil, false},
		"of a length":         {wire.MethodDelete, 1, slow, fault.BodyBesidePost, false},
		"ends without a byte": {wire.MethodDelete, -1, strings.NewReader(""), nil, true},
		"has a byte":          {wire.MethodGet, -1, strings.NewReader("xy"), fault.BodyBesidePost, true},
		"does not end":        {wire.MethodOptions, -1, slow, fault.BodySlow, true},
		"breaks off":          {wire.MethodGet, -1, iotest.ErrReader(io.ErrUnexpectedEOF), fault.BodyUnread, true},
		"a POST's":            {wire.MethodPost, -1, strings.NewReader(""), nil, true},
	} {
		call := &Call{HTTP: &wire.Request{Method: c.method, Header: new(wire.Header), Body: c.body, ContentLength: c.length}, Settings: &Settings{Limits: Limits{}.WithDefaults()}}
		x := Arrival{call}
		err := x.CheckBody()
		if looked := err == nil && c.length != 0; looked != c.looked {
			t.Errorf("%s: it is looked at: %v, %v", name, looked, err)
		}
		if err == nil {
			err = x.Read(nil, func(int64) error { return nil })
		}
		if !errors.Is(err, c.want) || err != nil && c.want == nil {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
		if none := call.HTTP.ContentLength == 0; none != (c.want == nil && c.method != wire.MethodPost) {
			t.Errorf("%s: got a body of %d", name, call.HTTP.ContentLength)
		}
	}
}
