package exchange

import (
	"bytes"
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

	"berth/internal/wire"
)

// Client sends requests over HTTP/1.1 by net/http, and keeps connections.
type Client struct {
	transport *http.Transport
}

// idleConnection is shorter than the keep-alive of common MCP servers (Node
// closes idle connections after 5 s): a request that meets the server's closing
// cannot be repeated if it calls a tool.
const idleConnection = 4 * time.Second

// Buffers of a connection, in bytes. Larger writes pass them by, and larger reads unless the
// answer comes in small chunks, as events do; thousands of calls that wait for their answers
// hold little more than these.
const (
	readBuffer  = 4 << 10
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

// NewSecureClient is NewClient that agrees on TLS as config says for the host and port of a
// connection, when that is made.
func NewSecureClient(connectTimeout time.Duration, config func(address string) *tls.Config) *Client {
	c := NewClient(connectTimeout)
	dial := c.transport.DialContext
	c.transport.DialTLSContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		secure := tls.Client(conn, config(address))
		if connectTimeout > 0 {
			bounded, cancel := context.WithTimeout(ctx, connectTimeout)
			defer cancel()
			ctx = bounded
		}
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		return secure, nil
	}
	return c
}

// Close implements Sender.
func (c *Client) Close() { c.transport.CloseIdleConnections() }

// Send implements Sender.
func (c *Client) Send(ctx context.Context, request *Request, wait time.Duration) (*wire.Response, error) {
	e := &underWay{}
	response, err := c.roundTrip(ctx, e.outgoing(request), e, wait)
	if err != nil {
		return nil, err
	}
	e.ReadCloser = response.Body
	e.response = wire.Response{
		Status: response.StatusCode, Phrase: http.StatusText(response.StatusCode),
		Header: wire.FromLists(response.Header), Body: e, ContentLength: response.ContentLength,
		ProtoMajor: response.ProtoMajor, ProtoMinor: response.ProtoMinor,
	}
	return &e.response, nil
}

// Do is Send for a request of net/http, whose context bounds the exchange.
func (c *Client) Do(request *http.Request, wait time.Duration) (*http.Response, error) {
	e := &underWay{}
	if request.GetBody = nil; request.Body == nil || request.Body == http.NoBody {
		request.Body = io.NopCloser(&e.body)
	}
	response, err := c.roundTrip(request.Context(), request, e, wait)
	if err != nil {
		return nil, err
	}
	e.ReadCloser = response.Body
	response.Body = e
	return response, nil
}

// roundTrip sends out and returns its answer within wait. ctx ends it, up to e's Close.
func (c *Client) roundTrip(ctx context.Context, out *http.Request, e *underWay, wait time.Duration) (*http.Response, error) {
	own := e.begin(ctx, wait)
	response, err := c.transport.RoundTrip(out.WithContext(httptrace.WithClientTrace(own, &e.trace)))
	if !e.inTime() && err == nil {
		response.Body.Close()
		err = ErrNotInTime
	}
	if err == nil && !IsFinal(response.StatusCode) {
		response.Body.Close()
		e.sent.hangUp() // an answer without a body has given it back already
		err = fmt.Errorf("%w %d", ErrStatus, response.StatusCode)
	}
	if err != nil {
		defer e.end()
		return nil, sendError(own, err, &e.sent)
	}
	return response, nil
}

// underWay is what an exchange takes, in one allocation.
type underWay struct {
	io.ReadCloser // the answer's body
	patience

	sent     sentBytes
	trace    httptrace.ClientTrace
	body     bytes.Reader
	response wire.Response
}

// begin returns the context of the exchange.
func (e *underWay) begin(ctx context.Context, wait time.Duration) context.Context {
	e.trace.GotConn = e.sent.watch
	return e.start(ctx, wait)
}

// Close ends the exchange with the body.
func (e *underWay) Close() error {
	err := e.ReadCloser.Close()
	e.end()
	return err
}

// outgoing is request as net/http sends it, once: it would send a GET, and whatever carries
// an Idempotency-Key, again when a kept connection dies, if it had no body or could get it
// anew. That of a request without one is not known to be empty.
func (e *underWay) outgoing(request *Request) *http.Request {
	e.body.Reset(request.Body)
	return &http.Request{
		Method: request.Method, URL: request.URL, Host: request.Host, Header: request.Header.Lists(),
		Body: io.NopCloser(&e.body), ContentLength: int64(len(request.Body)),
	}
}

func sendError(ctx context.Context, err error, sent *sentBytes) *SendError {
	e := &SendError{Err: err, Sent: sent.any(), Refused: errors.Is(err, syscall.ECONNREFUSED)}
	e.Starved = !e.Sent && IsStarved(err)
	if cause := context.Cause(ctx); cause != nil {
		e.Err = cause
	}
	e.TimedOut = IsTimeout(err) || errors.Is(e.Err, ErrNotInTime)
	e.Garbled = errors.Is(e.Err, ErrStatus) || context.Cause(ctx) == nil && sent.answeredWhole()
	e.Sent = e.Sent || e.Garbled // who answers has taken something for the request
	if sent.isFirst.Load() && RefusesHandshake(err) {
		e.Sent, e.Garbled = false, false
	}
	return e
}

// countedConn counts the bytes of a connection, and sees its end.
type countedConn struct {
	net.Conn
	written atomic.Int64
	read    atomic.Int64
	ended   atomic.Bool // nothing more can be read
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.read.Add(int64(n))
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
	conn    atomic.Pointer[countedConn]
	before  atomic.Int64 // what the connection had written when the request got it
	read    atomic.Int64 // and read
	isFirst atomic.Bool  // whether the request is the first of its connection
}

// answeredWhole reports whether an answer came that did not break off. If there is an error
// all the same, that is what net/http says of a head that it cannot read.
func (s *sentBytes) answeredWhole() bool {
	conn := s.conn.Load()
	return conn != nil && conn.read.Load() > s.read.Load() && !conn.ended.Load()
}

func (s *sentBytes) watch(info httptrace.GotConnInfo) {
	s.isFirst.Store(!info.Reused)
	conn := info.Conn
	if t, ok := conn.(*tls.Conn); ok {
		conn = t.NetConn()
	}
	if counted, ok := conn.(*countedConn); ok {
		s.before.Store(counted.written.Load())
		s.read.Store(counted.read.Load())
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
