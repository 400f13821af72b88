package command

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"

	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"berth/internal/certs/certstest"
	"berth/internal/config"
	"berth/internal/realtest"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A harbour is a berth that serves over TLS, and one instance behind it.
type harbour struct {
	t    *testing.T
	url  string
	logs realtest.Journal
	root *certstest.Authority
	ca   string // file
	stop context.CancelFunc

	free   chan struct{} // closed: what waits is answered
	answer func()        // closes it
	gone   chan struct{} // says that a call's client has left
	over   chan error    // says how the berth ended
}

func newHarbour(t *testing.T, change func(*config.Config)) *harbour {
	t.Helper()
	h := &harbour{t: t, root: certstest.New(t), free: make(chan struct{}), gone: make(chan struct{}, 100), over: make(chan error, 1)}
	h.answer = sync.OnceFunc(func() { close(h.free) })
	instance := httptest.NewServer(h)
	t.Cleanup(instance.Close)
	dir := t.TempDir()
	pair := h.root.Server("localhost")
	h.ca = dir + "/ca.pem"
	certstest.Write(t, h.ca, h.root.PEM())
	certstest.Write(t, dir+"/cert.pem", pair.Cert)
	certstest.Write(t, dir+"/key.pem", pair.Key)
	cfg, pool := config.Default(), config.DefaultPool()
	pool.Timeouts.Linger = config.Duration(time.Millisecond) // answers are not read on for who left
	pool.Upstreams = []config.Upstream{{Name: "a", URL: instance.URL + "/mcp"}}
	cfg.Listen, cfg.Pools, cfg.Store.URL = "127.0.0.1:0", []config.Pool{pool}, "memory:"
	cfg.TLS.Cert, cfg.TLS.Key, cfg.TLS.HTTP2 = dir+"/cert.pem", dir+"/key.pem", true
	if change != nil {
		change(&cfg)
	}
	ctx, stop := context.WithCancel(t.Context())
	h.stop = stop
	go func() { h.over <- serve(ctx, reading{}, cfg, nil, &h.logs) }()
	t.Cleanup(func() { h.answer(); stop(); h.await() })
	realtest.Eventually(t, "it serves", func() bool { return h.address() != "" })
	h.url = "https://" + h.address()
	return h
}

// await waits for the berth's end.
func (h *harbour) await() {
	select {
	case err := <-h.over:
		h.over <- err
	case <-time.After(realtest.Within):
		h.t.Errorf("the berth does not end:\n%s", &h.logs)
	}
}

// address is where the berth says that it serves.
func (h *harbour) address() string {
	for line := range strings.Lines(h.logs.String()) {
		var said struct{ Msg, Address string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "serving" {
			return said.Address
		}
	}
	return ""
}

// ServeHTTP is the instance: tool "quick" answers, "slow" once it may, "told" begins a stream first.
func (h *harbour) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	answer := `{"jsonrpc":"2.0","id":1,"result":{"content":[],"via":` + fmt.Sprintf("%q", r.Header.Get("Via")+" for="+r.Header.Get("X-Forwarded-For")) + `}}`
	if strings.Contains(string(body), `"told"`) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n")
		_ = http.NewResponseController(w).Flush()
		answer = "data: " + answer + "\n\n"
	}
	if !strings.Contains(string(body), `"quick"`) {
		select {
		case <-h.free:
		case <-r.Context().Done():
			h.gone <- struct{}{}
			return
		}
	}
	_, _ = io.WriteString(w, answer)
}

// client speaks HTTP/2 alone, over one connection.
func (h *harbour) client() *http.Client {
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: h.root.Pool()}, Protocols: new(http.Protocols)}
	transport.Protocols.SetHTTP2(true)
	h.t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: realtest.Within}
}

func call(ctx context.Context, client *http.Client, url, tool string) (*http.Response, error) {
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":{}}}`
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/mcp", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json, text/event-stream")
	return client.Do(request)
}

func TestClientsAreServedOverHTTP2(t *testing.T) {
	t.Parallel()
	h := newHarbour(t, nil)
	client := h.client()
	var calls sync.WaitGroup
	for range 50 {
		calls.Go(func() {
			response, err := call(t.Context(), client, h.url, "quick")
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			body, err := io.ReadAll(response.Body)
			if response.ProtoMajor != 2 || response.StatusCode != http.StatusOK || err != nil || !strings.Contains(string(body), `2.0 berth`) {
				t.Errorf("got HTTP/%d, %d, %s, %v", response.ProtoMajor, response.StatusCode, body, err)
			}
		})
	}
	calls.Wait()
	older := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: h.root.Pool()}}}
	defer older.CloseIdleConnections()
	response, err := call(t.Context(), older, h.url, "quick")
	if err != nil || response.ProtoMajor != 1 || response.StatusCode != http.StatusOK {
		t.Fatalf("HTTP/1.1 beside it: got %v, %v", response, err)
	}
	response.Body.Close()
}

// Other requests of the connection go on when one is given up, and the instance hears of it.
func TestClientWhoResetsAStreamHangsUp(t *testing.T) {
	t.Parallel()
	h := newHarbour(t, nil)
	client := h.client()
	ctx, hangUp := context.WithCancel(t.Context())
	response, err := call(ctx, client, h.url, "told")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if line, err := bufio.NewReader(response.Body).ReadString('\n'); err != nil || !strings.Contains(line, "notifications/message") {
		t.Fatalf("got %q, %v, want an event before the answer", line, err)
	}
	other, err := call(t.Context(), client, h.url, "told")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Body.Close()
	hangUp()
	select {
	case <-h.gone:
	case <-time.After(realtest.Within):
		t.Fatal("the instance does not hear that the client has left")
	}
	h.answer()
	if body, err := io.ReadAll(other.Body); err != nil || !strings.Contains(string(body), `"result"`) {
		t.Errorf("the other stream: got %s, %v", body, err)
	}
}

// What is under way when berth drains is answered; what crosses that word was not served, which the
// client can tell.
func TestDrainTellsConnectionsOfHTTP2(t *testing.T) {
	t.Parallel()
	h := newHarbour(t, nil)
	client := h.client()
	response, err := call(t.Context(), client, h.url, "told")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	h.stop()
	realtest.Eventually(t, "new requests are turned to another berth", func() bool {
		again, err := call(t.Context(), client, h.url, "quick")
		if err != nil {
			return strings.Contains(err.Error(), "refused")
		}
		defer again.Body.Close()
		if again.StatusCode != http.StatusOK {
			t.Errorf("got %d while it drains", again.StatusCode)
		}
		return false
	})
	h.answer()
	if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), `"result"`) {
		t.Errorf("what was under way: got %s, %v", body, err)
	}
	h.await()
}

// A connection is told that no more is taken as soon as berth drains, while its streams go on.
func TestDrainSendsGoAwayAtOnce(t *testing.T) {
	t.Parallel()
	h := newHarbour(t, nil)
	conn, err := tls.Dial("tcp", h.address(), &tls.Config{RootCAs: h.root.Pool(), ServerName: "localhost", NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(realtest.Within)); err != nil {
		t.Fatal(err)
	}
	framer := startStream(t, conn, h.address(), "told")
	awaitFrame[*http2.DataFrame](t, framer)
	h.stop()
	if last := awaitFrame[*http2.GoAwayFrame](t, framer); last.ErrCode != http2.ErrCodeNo || last.LastStreamID != 1 {
		t.Errorf("got %v of stream %d, want no error, and that stream 1 was taken", last.ErrCode, last.LastStreamID)
	}
	h.answer()
	if frame := awaitFrame[*http2.DataFrame](t, framer); !strings.Contains(string(frame.Data()), `"result"`) {
		t.Errorf("got %q, want the answer", frame.Data())
	}
}

// startStream speaks HTTP/2 on conn by hand, and calls a tool on stream 1.
func startStream(t *testing.T, conn io.ReadWriter, authority, tool string) *http2.Framer {
	t.Helper()
	var block bytes.Buffer
	fields := hpack.NewEncoder(&block)
	for _, f := range [][2]string{
		{":method", "POST"}, {":scheme", "https"}, {":authority", authority}, {":path", "/mcp"},
		{"content-type", "application/json"}, {"accept", "application/json, text/event-stream"},
	} {
		_ = fields.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]})
	}
	framer := http2.NewFramer(conn, conn)
	_, err := io.WriteString(conn, http2.ClientPreface)
	err = errors.Join(err, framer.WriteSettings(), framer.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: block.Bytes(), EndHeaders: true}),
		framer.WriteData(1, true, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`)))
	if err != nil {
		t.Fatal(err)
	}
	return framer
}

// awaitFrame skips frames of other kinds.
func awaitFrame[F http2.Frame](t *testing.T, framer *http2.Framer) F {
	t.Helper()
	for {
		frame, err := framer.ReadFrame()
		if err != nil {
			t.Fatalf("no %T: %v", *new(F), err)
		}
		if wanted, ok := frame.(F); ok {
			return wanted
		}
	}
}

func TestLimitsHoldOverHTTP2(t *testing.T) {
	t.Parallel()
	h := newHarbour(t, func(cfg *config.Config) {
		cfg.Limits.StreamsPerConnection, cfg.Limits.InFlightPerCaller, cfg.Limits.Headers = 3, 2, 8<<10
	})
	client := h.client()
	for range 2 {
		response, err := call(t.Context(), client, h.url, "told")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
	}
	response, err := call(t.Context(), client, h.url, "quick")
	if err != nil || response.StatusCode != http.StatusTooManyRequests {
		t.Fatalf("beyond in_flight_per_caller: got %v, %v, want 429", response, err)
	}
	response.Body.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.url+"/mcp", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Large", strings.Repeat("x", 64<<10))
	if response, err := client.Do(request); err == nil { // Go's client keeps to what it was told, or hears 431
		response.Body.Close()
		if response.StatusCode != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("a large header: got %d, want 431", response.StatusCode)
		}
	}
	h.answer()
}

// A request whose stream is ended by an empty frame of data has no body: some clients end each so.
func TestABodyWithoutAByteIsNoneOverHTTP2(t *testing.T) {
	t.Parallel()
	h := newHarbour(t, nil)
	h.answer()
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodOptions} {
		status := func(body io.Reader) int {
			request, err := http.NewRequestWithContext(t.Context(), method, h.url+"/mcp", body)
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Mcp-Session-Id", "s")
			response, err := h.client().Do(request) // by a connection of its own: a 400 ends one
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			return response.StatusCode
		}
		if got, want := status(io.MultiReader()), status(nil); got != want || got == http.StatusBadRequest {
			t.Errorf("%s: got %d, and %d without the frame", method, got, want)
		}
		if got := status(io.MultiReader(strings.NewReader("x"))); got != http.StatusBadRequest {
			t.Errorf("%s with a byte: got %d, want 400", method, got)
		}
	}
}

// A stream too many waits in the client until there is room: that is HTTP/2's own word.
func TestStreamsOfAConnectionAreBounded(t *testing.T) {
	t.Parallel()
	h := newHarbour(t, func(cfg *config.Config) { cfg.Limits.StreamsPerConnection = 2 })
	client := h.client()
	client.Transport.(*http.Transport).HTTP2 = &http.HTTP2Config{StrictMaxConcurrentRequests: true}
	for range 2 {
		response, err := call(t.Context(), client, h.url, "told")
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
	}
	third := make(chan error, 1)
	go func() {
		response, err := call(t.Context(), client, h.url, "quick")
		if err == nil {
			response.Body.Close()
		}
		third <- err
	}()
	select {
	case err := <-third:
		t.Fatalf("a third stream was taken while two stand: %v", err)
	case <-time.After(100 * time.Millisecond):
	}
	h.answer()
	if err := <-third; err != nil {
		t.Error(err)
	}
}

const nodeCall = `
const client = require('http2').connect(process.argv[1], {ca: require('fs').readFileSync(process.argv[2])});
const stream = client.request({':method': 'POST', ':path': '/mcp', 'content-type': 'application/json', accept: 'application/json, text/event-stream'});
let all = '';
stream.on('response', h => { all += h[':status'] + ' ' });
stream.on('data', d => { all += d });
stream.on('end', () => { console.log(all); client.close() });
stream.end('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"quick","arguments":{}}}');
`

// Clients of other makes are served as well.
func TestCurlAndNodeSpeakHTTP2(t *testing.T) {
	t.Parallel()
	h := newHarbour(t, nil)
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"quick","arguments":{}}}`
	for _, args := range [][]string{
		{"curl", "-sS", "--http2", "--cacert", h.ca, "-H", "Content-Type: application/json", "-H", "Accept: application/json, text/event-stream",
			"-d", body, "-w", " %{http_code} HTTP/%{http_version}", h.url + "/mcp"},
		{"node", "-e", nodeCall, h.url, h.ca},
	} {
		if _, err := exec.LookPath(args[0]); err != nil {
			t.Logf("%s: %v", args[0], err)
			continue
		}
		out, err := exec.CommandContext(t.Context(), args[0], args[1:]...).CombinedOutput()
		if err != nil || !strings.Contains(string(out), "2.0 berth") || !strings.Contains(string(out), "200") {
			t.Errorf("%s: got %s, %v", args[0], out, err)
		}
	}
}
