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

	"berth/internal/demo/fleet"
	"berth/internal/memnet"
)

// outNetwork reaches the listeners in memory by name and all else over TCP.
type outNetwork struct {
	mu     sync.Mutex // guards the fields below
	memory map[string]*memnet.Listener
	lost   map[string]chan struct{} // hosts that nothing gets through to, nor a refusal back; closed when mended
}

func (n *outNetwork) listen(t *testing.T, tcp bool, name string) net.Listener {
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

func (n *outNetwork) dial(ctx context.Context, network, address string) (net.Conn, error) {
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
func (n *outNetwork) cut(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lost = map[string]chan struct{}{host: make(chan struct{})}
}

func (n *outNetwork) mend(host string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.lost[host])
	delete(n.lost, host)
}

// outServer is one instance of the fleet, which can be killed.
type outServer struct {
	*fleet.Server
	f     *outFleet
	addr  string
	http  *http.Server
	fault atomic.Pointer[outFault]
}

// outFault answers a request in the instance's place; false lets it through.
type outFault func(w http.ResponseWriter, r *http.Request, body []byte) bool

func (f *outFleet) newServer(name string, setUp func(*fleet.Server)) *outServer {
	f.t.Helper()
	s := &outServer{Server: &fleet.Server{Name: name, SessionOptional: true}, f: f}
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
func (s *outServer) start(name string) {
	s.f.t.Helper()
	l := s.f.network.listen(s.f.t, s.f.tcp, name)
	s.addr = l.Addr().String()
	s.http = &http.Server{Handler: s.Server}
	go s.http.Serve(l)
}

// kill closes the instance's port and breaks its connections.
func (s *outServer) kill() { s.http.Close() }

// inject sets the instance's fault; nil ends it.
func (s *outServer) inject(fault outFault) {
	if fault == nil {
		s.fault.Store(nil)
		return
	}
	s.fault.Store(&fault)
}

// freeze lets the instance take requests in and answer none, as SIGSTOP does.
func (s *outServer) freeze() {
	s.inject(func(_ http.ResponseWriter, r *http.Request, _ []byte) bool {
		<-r.Context().Done()
		return true
	})
}

// outOn limits a fault to one JSON-RPC method.
func outOn(method string, fault outFault) outFault {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return outMethod(body) == method && fault(w, r, body)
	}
}

func outMethod(body []byte) string {
	var m struct{ Method string }
	_ = json.Unmarshal(body, &m) // what is no message has no method
	return m.Method
}

// outSay answers with a body of this type.
func outSay(contentType, body string) outFault {
	return func(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
		return true
	}
}

const (
	outJSON = "application/json"
	outSSE  = "text/event-stream"
)

// outReset breaks the connection, by a RST where there is TCP.
func outReset(w http.ResponseWriter, _ *http.Request, _ []byte) bool {
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

// outOnce lets a fault happen to the first request only.
func outOnce(fault outFault) outFault {
	var once atomic.Bool
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		return once.CompareAndSwap(false, true) && fault(w, r, body)
	}
}
