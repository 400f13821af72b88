package webhook

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"strconv"
	"syscall"
	"time"

	"berth/internal/build"

	"github.com/sony/gobreaker/v2"
)

const (
	// failuresToOpen in a row have a receiver be left alone.
	failuresToOpen = 5

	// mostRead is what is read of an answer, so that its connection can be used again.
	mostRead = 16 << 10

	idle = 30 * time.Second

	// leastSilence is how long a connection of HTTP/2 may bring nothing at least before it is asked for a sign of life, and for how long
	// that is waited for: attempts share one, and none would have another while it stands.
	leastSilence = time.Second
)

// Receiver is who is told, and how. It does not change once it is in use.
type Receiver struct {
	URL         string        // http or https; required
	Secrets     [][]byte      // the message bears a signature by each; at least one
	Guard       Guard         // where its host may be
	Timeout     time.Duration // of an attempt, from looking the host up to the end of the answer; required
	Concurrency int           // connections to it; required
	Alone       time.Duration // for which it is sent nothing after failures in a row; then one message tries; 0: a minute
	Trust       Trust         // how it is spoken to by TLS; nil: as the system trusts, from TLS 1.2
}

// Trust is a *certs.Trust.
type Trust interface{ Config(host string) *tls.Config }

// Client sends to one receiver. Close it when nobody sends any more.
type Client struct {
	receiver Receiver
	http     http.Client
	breaker  *gobreaker.TwoStepCircuitBreaker[struct{}]
}

// NewClient returns a client that tells changed whenever the receiver begins to be left alone, or is
// well again. changed must not wait.
func NewClient(r Receiver, changed func(alone bool)) *Client {
	c := &Client{receiver: r, breaker: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{
		Timeout:     r.Alone,
		IsExcluded:  func(err error) bool { return err == errNothing },
		ReadyToTrip: func(counts gobreaker.Counts) bool { return counts.ConsecutiveFailures >= failuresToOpen },
		OnStateChange: func(_ string, from, to gobreaker.State) {
			switch {
			case to == gobreaker.StateClosed:
				changed(false)
			case from == gobreaker.StateClosed:
				changed(true)
			}
		},
	})}
	// What an attempt has begun to connect goes on once that is over, and counts among its connections.
	dialer := &net.Dialer{Control: c.control, Timeout: r.Timeout}
	transport := &http.Transport{
		DialContext: dialer.DialContext, ForceAttemptHTTP2: true, IdleConnTimeout: idle,
		MaxConnsPerHost: r.Concurrency, MaxResponseHeaderBytes: 64 << 10, DisableCompression: true,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12}, TLSHandshakeTimeout: r.Timeout,
		HTTP2: &http.HTTP2Config{SendPingTimeout: max(r.Timeout, leastSilence), PingTimeout: max(r.Timeout, leastSilence)},
	}
	if r.Trust != nil {
		transport.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
			return c.dialTLS(ctx, dialer, network, address)
		}
	}
	c.http = http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	return c
}

// control judges the address of a connection that is about to be made: the name is resolved by then.
func (c *Client) control(_, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil {
		return errors.Join(ErrForbidden, err)
	}
	return c.receiver.Guard.Check(to.Addr())
}

// dialTLS has each handshake use the files as they are then.
func (c *Client) dialTLS(ctx context.Context, dialer *net.Dialer, network, address string) (net.Conn, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, c.receiver.Timeout)
	defer cancel()
	secured := tls.Client(conn, c.receiver.Trust.Config(host))
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secured, nil
}

// Close closes connections that nobody uses.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// ErrAlone says that the receiver is to be left alone for now.
var ErrAlone = errors.New("webhook: the receiver is left alone for now")

// errNothing says that a turn was not used.
var errNothing = errors.New("webhook: nothing was sent")

// Turn is the right to send once. Whoever has it calls it once, with what came of that; nil where nothing
// was sent.
type Turn func(*Answer)

// Turn gives the right to send, or fails with ErrAlone.
func (c *Client) Turn() (Turn, error) {
	tell, err := c.breaker.Allow()
	if err != nil {
		return nil, ErrAlone
	}
	return func(a *Answer) {
		switch {
		case a == nil:
			tell(errNothing)
		case a.IsTrouble():
			tell(a.Err)
		default:
			tell(nil)
		}
	}, nil
}

// Send sends a message once.
func (c *Client) Send(ctx context.Context, m Message) Answer {
	ctx, cancel := context.WithTimeout(ctx, c.receiver.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.receiver.URL, bytes.NewReader(m.Body))
	if err != nil {
		return failed(err)
	}
	at := time.Now()
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "berth/"+build.Version)
	r.Header.Set("Webhook-Id", m.ID)
	r.Header.Set("Webhook-Timestamp", strconv.FormatInt(at.Unix(), 10))
	r.Header.Set("Webhook-Signature", m.signatures(at, c.receiver.Secrets))
	connected := false
	r = r.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }}))
	response, err := c.http.Do(r)
	if err != nil && connected {
		return failed(unanswered(err))
	}
	if err != nil {
		return failed(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, mostRead) // of what it says the status counts alone
	return answered(response.StatusCode, response.Header.Get("Retry-After"), at)
}
