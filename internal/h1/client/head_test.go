package client

import (
	"fmt"
	"net/url"
	"testing"

	"berth/internal/exchange"
	"berth/internal/wire"
)

// A field whose name has a number, and which was judged, is written by another way than others: what comes of it is the same, and one
// that frames, or says whom the message is for, goes by neither.
func TestFieldsOfUsualNamesAreWrittenAsOthersAre(t *testing.T) {
	written := func(fields ...wire.Field) string {
		h := new(wire.Header)
		for _, f := range fields {
			h.Append(f)
		}
		b, keep, err := appendHead(nil, &exchange.Request{
			Method: "POST", URL: &url.URL{Scheme: "http", Host: "a.example", Path: "/mcp"}, Header: h, Body: []byte("{}"),
		})
		return fmt.Sprintf("%q %v %v", b, keep, err)
	}
	for _, name := range wire.UsualNames() {
		for _, value := range []string{"", "a", "close", "99", "chunked"} {
			plain, own := wire.Field{Name: name, Value: value}, wire.Own(name, value)
			last := wire.Field{Name: "X-Last", Value: "z"}
			if got, want := written(own, own, last), written(plain, plain, last); got != want {
				t.Errorf("%s: %q: got %s, want %s", name, value, got, want)
			}
		}
	}
}
