package httpsse_test

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange/exchangetest"
	"berth/internal/h1/h1test"
	"berth/internal/httpsse"
	"berth/internal/mcp"
	"berth/internal/memnet"
	"berth/internal/wire"
)

// server is a small MCP server of HTTP with SSE, and a client of it through a Sender. Its
// exported face is what a test tells it to do.
type server struct {
	*exchangetest.Client
	t *testing.T

	// What stands in for what it does otherwise, if that returns true.
	opens    func(w http.ResponseWriter, r *http.Request) bool
	takes    func(w http.ResponseWriter, r *http.Request, body string) bool
	endpoint string // that it announces; "": its own

	mu      sync.Mutex // guards the fields below
	gets    []*http.Request
	posts   []post
	streams []*stream
}

type post struct {
	*http.Request
	body string
}

// stream is one of its GETs.
type stream struct {
	say  chan string   // raw; "" ends it
	gone chan struct{} // closed with it
}

func newServer(t *testing.T, o httpsse.Options) *server {
	t.Helper()
	s := &server{t: t}
	listener := memnet.Listen("a")
	front := &http.Server{Handler: s}
	go front.Serve(listener)
	sender := httpsse.New(h1test.NewSender(memnet.Dialer(listener), time.Second), o)
	s.Client = &exchangetest.Client{T: t, To: sender, URL: &url.URL{Scheme: "sse+http", Host: "a:80", Path: "/sse"}}
	t.Cleanup(func() {
		sender.Close()
		synctest.Wait()
		front.Close()
	})
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	if r.Method == http.MethodGet {
		s.gets = append(s.gets, r)
	} else {
		s.posts = append(s.posts, post{r, string(body)})
	}
	s.mu.Unlock()
	switch {
	case r.Method == http.MethodGet && r.URL.Path == "/sse":
		if s.opens == nil || !s.opens(w, r) {
			s.serveStream(w, r)
		}
	case r.Method == http.MethodPost && r.URL.Path == "/messages/":
		if s.takes == nil || !s.takes(w, r, string(body)) {
			s.take(w, string(body))
		}
	default:
		http.NotFound(w, r)
	}
}

func (s *server) serveStream(w http.ResponseWriter, r *http.Request) {
	st := &stream{say: make(chan string, 10), gone: make(chan struct{})}
	defer close(st.gone)
	s.mu.Lock()
	endpoint := fmt.Sprintf("/messages/?session=%d", len(s.streams))
	s.streams = append(s.streams, st)
	s.mu.Unlock()
	if s.endpoint != "" {
		endpoint = s.endpoint
	}
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	fmt.Fprintf(w, ": hello\r\n\r\nevent: endpoint\r\ndata: %s\r\n\r\n", endpoint)
	for {
		_ = http.NewResponseController(w).Flush()
		select {
		case raw := <-st.say:
			if raw == "" {
				return
			}
			_, _ = io.WriteString(w, raw)
		case <-r.Context().Done():
			return
		}
	}
}

func (s *server) take(w http.ResponseWriter, body string) {
	w.WriteHeader(http.StatusAccepted)
	_, _ = io.WriteString(w, "Accepted")
	if strings.Contains(body, `"initialize"`) {
		s.last().say <- message(initialized(body))
	}
}

// last is the stream that was opened last.
func (s *server) last() *stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.streams[len(s.streams)-1]
}

// posted waits until all is quiet, and returns the last message.
func (s *server) posted() post {
	s.t.Helper()
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.posts) == 0 {
		s.t.Fatal("nothing was posted")
	}
	return s.posts[len(s.posts)-1]
}

// ended reports whether all streams have.
func (s *server) ended() bool {
	time.Sleep(10 * time.Millisecond) // an exchange is not watched at first
	synctest.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, st := range s.streams {
		select {
		case <-st.gone:
		default:
			return false
		}
	}
	return true
}

func message(data string) string { return "event: message\r\ndata: " + data + "\r\n\r\n" }

func initialized(body string) string {
	return `{"jsonrpc":"2.0","id":` + string(mcp.ID([]byte(body))) + `,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}`
}

func result(id, text string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"result":{"text":"` + text + `"}}`
}

func request(id, method string) string {
	return `{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":{}}`
}

var opens = request("0", "initialize")

// open opens a session, and returns the header that names it.
func (s *server) open(header ...string) []string {
	s.t.Helper()
	response := s.Do(wire.MethodPost, opens, header...)
	id := response.Header.Get(mcp.HeaderSession)
	if body := exchangetest.ReadAll(s.t, response); response.Status != wire.StatusOK || id == "" || !strings.Contains(body, `"id":0`) {
		s.t.Fatalf("initialize: got %d %s", response.Status, body)
	}
	return append(header, mcp.HeaderSession, id)
}
