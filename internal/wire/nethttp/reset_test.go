package nethttp_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"
	"time"
	"weak"

	"berth/internal/realtest"
	"berth/internal/wire"
	"berth/internal/wire/nethttp"
)

type handler func(w wire.Client, r *wire.Request) (whole bool)

func (h handler) Serve(w wire.Client, r *wire.Request) (whole bool) { return h(w, r) }

type ofConnection struct{ _ [64]byte }

// A stream that its client has reset leaves nothing behind, not even until the write deadline that its answer would have had.
func TestAStreamThatIsResetIsForgotten(t *testing.T) {
	t.Parallel()
	served, serving := make(chan struct{}), make(chan struct{})
	server := httptest.NewUnstartedServer(nethttp.Carry(handler(func(w wire.Client, r *wire.Request) bool {
		close(serving)
		<-r.Context().Done()
		_ = w.SetWriteDeadline(time.Now().Add(time.Hour))
		close(served)
		return true
	})))
	var conns []weak.Pointer[ofConnection]
	server.Config.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		mark := new(ofConnection)
		conns = append(conns, weak.Make(mark))
		return context.WithValue(ctx, ofConnection{}, mark)
	}
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()

	ctx, reset := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, server.URL, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	asked := make(chan error, 1)
	client := server.Client()
	go func() {
		response, err := client.Do(r)
		if err == nil {
			_ = response.Body.Close()
		}
		asked <- err
	}()
	<-serving
	reset()
	if err := <-asked; err == nil {
		t.Fatal("a request that was given up: got an answer")
	}
	<-served
	server.CloseClientConnections()
	realtest.Eventually(t, "nothing holds the connection", func() bool {
		runtime.GC()
		return conns[0].Value() == nil
	})
}
