package load

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httputil"
	"strconv"
	"time"
)

// patience bounds each exchange; a server that takes longer has failed.
const patience = 30 * time.Second

var errHead = errors.New("load: the head of the answer cannot be read")

// Conn is a client's connection to one server. It carries one exchange at a time.
type Conn struct {
	conn net.Conn
	in   *bufio.Reader
	body bytes.Buffer
}

// Answer is the answer to one request. What it refers to is valid until the connection's next exchange.
type Answer struct {
	Status  int
	Session string // the Mcp-Session-Id that it hands out
	Body    []byte

	length int64
	chunks bool
}

// Dial connects to address from the local address from, so that clients can be told apart by it.
func Dial(address string, from net.IP) (*Conn, error) {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}, Timeout: patience}
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("load: %w", err)
	}
	return &Conn{conn: conn, in: bufio.NewReader(conn)}, nil
}

// Secure speaks TLS on the connection from now on; nothing was sent yet.
func (c *Conn) Secure(config *tls.Config) error {
	secure := tls.Client(c.conn, config)
	if err := secure.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if err := secure.Handshake(); err != nil {
		return fmt.Errorf("load: %w", err)
	}
	c.conn, c.in = secure, bufio.NewReader(secure)
	return nil
}

// Close closes the connection; an exchange under way fails.
func (c *Conn) Close() { _ = c.conn.Close() }

// Exchange sends request as it is and reads the answer to its end.
func (c *Conn) Exchange(request []byte) (Answer, error) {
	answer, err := c.Open(request)
	if err != nil {
		return Answer{}, err
	}
	c.body.Reset()
	if err := c.readBody(answer); err != nil {
		return Answer{}, err
	}
	answer.Body = c.body.Bytes()
	return answer, nil
}

// Open sends request and reads the head of its answer only.
func (c *Conn) Open(request []byte) (Answer, error) {
	if err := c.conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return Answer{}, err
	}
	if _, err := c.conn.Write(request); err != nil {
		return Answer{}, err
	}
	return c.readHead()
}

func (c *Conn) readBody(answer Answer) error {
	if !answer.chunks {
		_, err := io.CopyN(&c.body, c.in, answer.length)
		return err
	}
	if _, err := c.body.ReadFrom(httputil.NewChunkedReader(c.in)); err != nil {
		return err
	}
	for { // trailers, and the empty line behind them
		line, err := c.line()
		if err != nil || len(line) == 0 {
			return err
		}
	}
}

func (c *Conn) readHead() (Answer, error) {
	line, err := c.line()
	if err != nil {
		return Answer{}, err
	}
	const before = len("HTTP/1.1 ")
	if len(line) < before+3 {
		return Answer{}, errHead
	}
	answer := Answer{}
	if answer.Status, err = strconv.Atoi(string(line[before : before+3])); err != nil {
		return Answer{}, errHead
	}
	for {
		line, err := c.line()
		if err != nil || len(line) == 0 {
			return answer, err
		}
		if err := answer.note(line); err != nil {
			return answer, err
		}
	}
}

// note takes what matters from one header line.
func (a *Answer) note(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	var err error
	switch {
	case bytes.EqualFold(name, []byte("Content-Length")):
		a.length, err = strconv.ParseInt(string(value), 10, 64)
	case bytes.EqualFold(name, []byte("Transfer-Encoding")):
		a.chunks = true
	case bytes.EqualFold(name, []byte("Mcp-Session-Id")):
		a.Session = string(value)
	}
	return err
}

// line is the next line without its end; it is valid until the next read.
func (c *Conn) line() ([]byte, error) {
	line, err := c.in.ReadSlice('\n')
	return bytes.TrimRight(line, "\r\n"), err
}
