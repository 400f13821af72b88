package webhook

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"
)

// silent is a listener whose first connections nobody answers on.
type silent struct {
	net.Listener
	left atomic.Int32
	held []net.Conn // Accept's
}

func (s *silent) Accept() (net.Conn, error) {
	for {
		conn, err := s.Listener.Accept()
		if err != nil || s.left.Add(-1) < 0 {
			return conn, err
		}
		s.held = append(s.held, conn)
	}
}

// trusting trusts one certificate.
type trusting struct{ root *x509.CertPool }

func (t trusting) Config(host string) *tls.Config {
	return &tls.Config{RootCAs: t.root, ServerName: host}
}

// A receiver that takes connections and does not go on with TLS is spoken to again once it does: what was tried holds no connection back.
func TestAHandshakeThatHangsIsOver(t *testing.T) {
	const attempts = 2
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	hangs := &silent{Listener: s.Listener}
	s.Listener = hangs
	s.StartTLS()
	defer s.Close()
	root := x509.NewCertPool()
	root.AddCert(s.Certificate())
	for name, trust := range map[string]Trust{"by its own table": trusting{root}, "as the system trusts": nil} {
		hangs.left.Store(attempts)
		c := NewClient(Receiver{
			URL: s.URL, Secrets: [][]byte{oldSecret}, Guard: loopback, Timeout: 200 * time.Millisecond, Concurrency: attempts, Trust: trust,
		}, func(bool) {})
		for range attempts {
			if a := c.Send(t.Context(), Message{ID: "msg_1", Body: []byte(`{}`)}); a.Outcome == Delivered {
				t.Errorf("%s: a silent receiver has taken it", name)
			}
		}
		want := Delivered
		if trust == nil {
			want = Unreachable // whose certificate nobody knows
		}
		var last Answer
		for range 10 { // one may be slow where the machine is
			if last = c.Send(t.Context(), Message{ID: "msg_1", Body: []byte(`{}`)}); last.Outcome == want {
				break
			}
		}
		if last.Outcome != want {
			t.Errorf("%s: once it is well: %s, %v, want %s", name, last.Outcome, last.Err, want)
		}
		c.Close()
	}
}
