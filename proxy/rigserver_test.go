package proxy_test

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"berth/internal/mcptest"
	"berth/internal/memnet"
)

// rigNetwork reaches the listeners in memory by name and all else over TCP.
type rigNetwork struct {
	mu     sync.Mutex // guards the fields below
	memory map[string]*memnet.Listener
	lost   map[string]chan struct{} // hosts that nothing gets through to, nor a refusal back; closed when mended
}

func (n *rigNetwork) listen(t *testing.T, tcp bool, name string) net.Listener {
	t.Helper()
	if !tcp {
		l := memnet.Listen(name)
		n.mu.Lock()
		defer n.mu.Unlock()
		if n.memory == nil {
			n.memory = map[string]*memnet.Listener{}
		}
		n.memory[name] = l
		return l
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func (n *rigNetwork) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	l, lost := n.memory[host], n.lost[host]
	n.mu.Unlock()
	if lost != nil {
		select {
		case <-lost:
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
		case <-time.After(2 * time.Second):
			return nil, &net.OpError{Op: "dial", Net: network, Err: os.ErrDeadlineExceeded}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	if l != nil {
		return l.Dial(ctx)
	}
	return new(net.Dialer).DialContext(ctx, network, address)
}

// cut lets nothing through to a host any more: new connections time out after
// the two seconds that berth gives them, as its own dialer would have it.
func (n *rigNetwork) cut(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lost = map[string]chan struct{}{host: make(chan struct{})}
}

func (n *rigNetwork) mend(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.lost[host])
	delete(n.lost, host)
}

// rigServer is one instance of the fleet, which can be killed.
type rigServer struct {
	*mcptest.Server
	f        *rig
	addr     string
	listener net.Listener
	http     *http.Server
	fault    atomic.Pointer[faultFunc]
}

// faultFunc answers a request in the instance's place; false lets it through.
type faultFunc func(w http.ResponseWriter, r *http.Request, body []byte) bool

func (f *rig) newServer(name string, setUp func(*mcptest.Server)) *rigServer {
	f.t.Helper()
	s := &rigServer{Server: &mcptest.Server{Name: name, SessionOptional: true}, f: f}
	if setUp != nil {
		setUp(s.Server)
	}
	s.Intercept = func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		fault := s.fault.Load()
		return fault != nil && (*fault)(w, r, body)
	}
	s.start(name)
	f.t.Cleanup(func() {
		s.Close()
		s.kill()
	})
	return s
}

// start listens under name and serves.
func (s *rigServer) start(name string) {
	s.f.t.Helper()
	s.listener = s.f.network.listen(s.f.t, s.f.tcp, name)
	s.addr = s.listener.Addr().String()
	s.http = &http.Server{Handler: s.Server}
	go s.http.Serve(s.listener)
}

// kill closes the instance's port and breaks its connections. The port first, and
// here: a server that has not come to serve yet does not know of it, and would leave
// it open until it does.
func (s *rigServer) kill() {
	s.listener.Close()
	s.http.Close()
}

// inject sets the instance's fault; nil ends it.
func (s *rigServer) inject(fault faultFunc) {
	if fault == nil {
		s.fault.Store(nil)
		return
	}
	s.fault.Store(&fault)
}

// freeze lets the instance take requests in and answer none, as SIGSTOP does.
func (s *rigServer) freeze() {
	s.inject(func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		<-r.Context().Done()
		return true
	})
}

// onMethod limits a fault to one JSON-RPC method.
func onMethod(method string, fault faultFunc) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return methodIn(body) == method && fault(w, r, body)
	}
}

func methodIn(body []byte) string {
	var m struct{ Method string }
	_ = json.Unmarshal(body, &m) // what is no message has no method
	return m.Method
}

// say answers with a body of this type.
func say(contentType, body string) faultFunc {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// sayStatus is say with a status.
func sayStatus(status int, contentType, body string) faultFunc {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
		return true
	}
}

// Content types of answers.
const (
	jsonType   = "application/json"
	eventsType = "text/event-stream"
)

// reset breaks the connection, by a RST where there is TCP.
func reset(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
	return true
}

// onlyOnce lets a fault happen to the first request only.
func onlyOnce(fault faultFunc) faultFunc {
	var once atomic.Bool
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return once.CompareAndSwap(false, true) && fault(w, r, body)
	}
}
