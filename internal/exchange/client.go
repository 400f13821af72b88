package exchange

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"syscall"
	"time"
)

// errHeaderTimeout says that no answer's headers came in the time given. Only a
// SendError bears it, which names the package.
var errHeaderTimeout = errors.New("no answer in time")

// SendError says how a request failed before an answer's headers were there, or that
// what was answered is none.
type SendError struct {
	Err      error // the cause; that of the request's context, if this ended the exchange
	Sent     bool  // some of the request may have reached the upstream
	Refused  bool  // nobody listens at the upstream's address
	TimedOut bool  // no connection, or no answer's headers, in time
	Starved  bool  // this process has no file descriptor or port left: nobody was tried
	Garbled  bool  // what was answered is no answer in HTTP; Sent, and its connection is closed
}

// Error describes the failure for logs.
func (e *SendError) Error() string { return fmt.Sprintf("exchange: %v", e.Err) }

// Unwrap returns the cause.
func (e *SendError) Unwrap() error { return e.Err }

// Client sends requests to upstreams over HTTP/1.1 and keeps their connections.
type Client struct {
	transport *http.Transport
}

// idleConnection is shorter than the keep-alive of common MCP servers (Node
// closes idle connections after 5 s): a request that meets the server's closing
// cannot be repeated if it calls a tool.
const idleConnection = 4 * time.Second

// Buffers of a connection, in bytes. Larger reads and writes pass them by; thousands of
// calls that wait for their answers hold little more than these.
const (
	readBuffer  = 1 << 10
	writeBuffer = 1 << 10
)

// Dial makes a connection, as net.Dialer's DialContext does.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// NewClient returns a client that gives a connection connectTimeout to be made,
// and as long again to agree on TLS; 0 is no limit.
func NewClient(connectTimeout time.Duration) *Client {
	dialer := net.Dialer{Timeout: connectTimeout}
	return NewClientOver(dialer.DialContext, connectTimeout)
}

// NewClientOver is NewClient over connections that dial makes. What bounds the
// time for that is dial's affair; connectTimeout bounds the TLS handshake.
func NewClientOver(dial Dial, connectTimeout time.Duration) *Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	return &Client{transport: &http.Transport{
		Proxy: nil, // upstreams come from the configuration only
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := dial(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return &countedConn{Conn: conn}, nil
		},
		TLSHandshakeTimeout:    connectTimeout,
		DisableCompression:     true,
		MaxIdleConnsPerHost:    4096,
		IdleConnTimeout:        idleConnection,
		MaxResponseHeaderBytes: 256 << 10,
		ReadBufferSize:         readBuffer,
		WriteBufferSize:        writeBuffer,
		Protocols:              protocols,
	}}
}

// Close closes idle connections. Exchanges that are under way go on.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Send sends request once and returns the answer when its headers are there,
// within wait (0: no limit). A failure is a *SendError. The request's context
// bounds the whole exchange; closing the answer's body ends it.
func (c *Client) Send(request *http.Request, wait time.Duration) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(request.Context())
	var sent sentBytes
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: sent.watch, GotFirstResponseByte: sent.answer})
	request = once(request.WithContext(ctx))
	timer := time.AfterFunc(waitOrForever(wait), func() { cancel(errHeaderTimeout) })
	response, err := c.transport.RoundTrip(request)
	if !timer.Stop() && err == nil {
		response.Body.Close()
		err = errHeaderTimeout
	}
	if err == nil && !isFinal(response.StatusCode) {
		response.Body.Close()
		sent.hangUp() // an answer without a body has given it back already
		err = fmt.Errorf("%w %d", errStatus, response.StatusCode)
	}
	if err != nil {
		defer cancel(nil)
		return nil, sendError(ctx, err, &sent)
	}
	response.Body = &endingBody{response.Body, cancel}
	return response, nil
}

// errStatus: a status with which no exchange ends. 101 would make a tunnel of the
// connection, for whoever believes it (RFC 9110, 15.2.2), and net/http panics when it is to
// write one below 100. Those above 599 are invalid (RFC 9110, 15).
var errStatus = errors.New("no answer ends with status")

// isFinal reports whether status may end an exchange. net/http has skipped the
// informational ones before it, as many as fit the limit of an answer's headers.
func isFinal(status int) bool { return status >= 200 && status <= 599 }

// once keeps net/http from sending request again when a kept connection dies. It
// does that to a GET, and to whatever carries an Idempotency-Key, if there is no
// body, or one that it can get anew.
func once(request *http.Request) *http.Request {
	request.GetBody = nil
	if request.Body == nil || request.Body == http.NoBody {
		request.Body = io.NopCloser(eof{})
	}
	return request
}

// eof is a body without bytes that net/http does not know to be one.
type eof struct{}

func (eof) Read([]byte) (int, error) { return 0, io.EOF }

// waitOrForever returns the duration of Send's timer, which must have one.
func waitOrForever(wait time.Duration) time.Duration {
	if wait <= 0 {
		return 1<<63 - 1
	}
	return wait
}

func sendError(ctx context.Context, err error, sent *sentBytes) *SendError {
	e := &SendError{Err: err, Sent: sent.any(), Refused: errors.Is(err, syscall.ECONNREFUSED)}
	e.Starved = !e.Sent && isStarved(err)
	if cause := context.Cause(ctx); cause != nil {
		e.Err = cause
	}
	var timeout net.Error
	e.TimedOut = errors.Is(e.Err, errHeaderTimeout) || errors.As(err, &timeout) && timeout.Timeout()
	e.Garbled = errors.Is(e.Err, errStatus) || context.Cause(ctx) == nil && sent.answeredWhole()
	e.Sent = e.Sent || e.Garbled // who answers has taken something for the request
	return e
}

// isStarved reports whether err says that this machine, and not the upstream, lacks
// what a connection takes.
func isStarved(err error) bool {
	for _, lack := range []syscall.Errno{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM} {
		if errors.Is(err, lack) {
			return true
		}
	}
	return false
}

// endingBody ends the exchange with the body.
type endingBody struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (b *endingBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}

// countedConn counts the bytes written to a connection, and sees its end.
type countedConn struct {
	net.Conn
	written atomic.Int64
	ended   atomic.Bool // nothing more can be read
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if err != nil {
		c.ended.Store(true)
	}
	return n, err
}

// Write counts first, for those who ask while it is under way, and takes back
// what did not leave.
func (c *countedConn) Write(p []byte) (int, error) {
	c.written.Add(int64(len(p)))
	n, err := c.Conn.Write(p)
	c.written.Add(int64(n - len(p)))
	return n, err
}

// sentBytes watches whether a request wrote to the connection it was given.
type sentBytes struct {
	conn     atomic.Pointer[countedConn]
	before   atomic.Int64
	answered atomic.Bool // some of an answer has come
}

func (s *sentBytes) answer() { s.answered.Store(true) }

// answeredWhole reports whether an answer came that did not break off. If there is an error
// all the same, that is what net/http says of a head that it cannot read.
func (s *sentBytes) answeredWhole() bool {
	conn := s.conn.Load()
	return conn != nil && s.answered.Load() && !conn.ended.Load()
}

func (s *sentBytes) watch(info httptrace.GotConnInfo) {
	conn := info.Conn
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if counted, ok := conn.(*countedConn); ok {
		s.before.Store(counted.written.Load())
		s.conn.Store(counted)
	}
}

// hangUp closes the connection that the request was given.
func (s *sentBytes) hangUp() {
	if conn := s.conn.Load(); conn != nil {
		_ = conn.Close()
	}
}

// any reports whether bytes may have left. Without a connection none have.
func (s *sentBytes) any() bool {
	conn := s.conn.Load()
	return conn != nil && conn.written.Load() > s.before.Load()
}
