package subscribe

import (
	"io"
	"strings"
	"testing"

	"berth/internal/wire"
)

// lentBody takes the answer's header back with its end, as clients of HTTP do.
type lentBody struct {
	io.Reader
	header *wire.Header
}

func (b lentBody) Close() error {
	b.header.Forget()
	return nil
}

// A stream may end while its header is still to be told: that is read when the stream's memory is another answer's.
func TestHeaderOfAFeedOutlivesIt(t *testing.T) {
	said := strings.NewReader(`data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":` +
		`{"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}}` + "\n\n")
	response := wire.Streamed(nil)
	response.Body = lentBody{said, response.Header}
	f := &feed{id: []byte("1")}
	if err := f.begin(response); err != nil {
		t.Fatal(err)
	}
	f.close()
	if got := f.response.Header.Get("Content-Type"); got != "text/event-stream" {
		t.Errorf("the header says %q, want an event stream", got)
	}
}
