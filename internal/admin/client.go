package admin

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// ErrNoBerth says that nothing that is berth answers at an admin address.
var ErrNoBerth = errors.New("no berth answers")

// ErrTLS says, beside [ErrNoBerth], that somebody answers, by other terms of TLS than those that were given.
var ErrTLS = errors.New("TLS is not as it was given")

const (
	callTimeout = 30 * time.Second
	maxReply    = 64 << 20 // bytes
)

// Client gives orders to a berth, and asks it. Make it with [NewClient].
type Client struct {
	address string
	base    string
	token   string
	http    *http.Client
}

// NewClient speaks to the listener at address, a host:port, :port of this machine, unix:PATH or URL, with
// token if that is not empty. It opens no connection.
func NewClient(address, token string) *Client {
	if strings.HasPrefix(address, ":") { // who listens at all addresses is reached there, and by that name
		address = "127.0.0.1" + address
	}
	c := &Client{address: address, base: "http://" + address, token: token, http: &http.Client{Timeout: callTimeout}}
	transport := &http.Transport{} // an operator's proxy has nothing to do with it
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		c.base = "http://localhost"
		transport.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}
	} else if strings.Contains(address, "://") {
		c.base = strings.TrimSuffix(address, "/")
	}
	c.http.Transport = transport
	return c
}

// CheckAddress tells what is wrong with an address as [NewClient] takes it.
func CheckAddress(address string) error {
	at, err := url.Parse(NewClient(address, "").base)
	if failed, ok := errors.AsType[*url.Error](err); ok {
		return failed.Err
	}
	if at.Hostname() == "" || at.Scheme != "http" && at.Scheme != "https" {
		return errors.New("it is no HOST:PORT, unix:PATH or URL")
	}
	port, isURL := at.Port(), strings.Contains(address, "://")
	switch n, err := strconv.ParseUint(port, 10, 16); {
	case port == "" && !isURL && !strings.HasPrefix(address, "unix:"):
		return errors.New("it names no port: HOST:PORT, unix:PATH or a URL")
	case port != "" && (err != nil || n == 0):
		return errors.New("a port is 1 to 65535")
	}
	return nil
}

// Secure has the client speak TLS by config to an address that is an https URL. Call it before the first
// call.
func (c *Client) Secure(config *tls.Config) {
	c.http.Transport.(*http.Transport).TLSClientConfig = config
}

// Call sends in, unless it is nil, as JSON to a path, and reads what is answered into out, unless that
// is nil. A [Fault] is what berth refuses; where [ErrNoBerth] is the error nobody heard, or nobody
// that is berth.
func (c *Client) Call(ctx context.Context, method, path string, in, out any) error {
	var body bytes.Buffer
	if in != nil {
		if err := json.NewEncoder(&body).Encode(in); err != nil {
			return fmt.Errorf("admin: %w", err)
		}
	}
	response, err := c.send(ctx, method, path, &body)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(response.Body, maxReply))
	if err != nil {
		return fmt.Errorf("%w at %s: %w", ErrNoBerth, c.address, err)
	}
	return c.read(response, reply, out)
}

// Read has read take in the answer of a path that is no JSON. Errors are those of Call.
func (c *Client) Read(ctx context.Context, path string, read func(io.Reader) error) error {
	patient := *c
	patient.http = &http.Client{Transport: c.http.Transport} // ctx bounds it
	response, err := patient.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		reply, _ := io.ReadAll(io.LimitReader(response.Body, maxReply))
		return c.refusal(response, reply)
	}
	return read(response.Body)
}

// send returns whatever is answered. Where [ErrNoBerth] is the error, nothing is.
func (c *Client) send(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, fmt.Errorf("admin: %w", err)
	}
	request.Header.Set("Content-Type", "application/json")
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	response, err := c.http.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if isOfTLS(err) {
			return nil, fmt.Errorf("%w at %s: %w: %w", ErrNoBerth, c.address, ErrTLS, err)
		}
		return nil, fmt.Errorf("%w at %s: %w", ErrNoBerth, c.address, err)
	}
	return response, nil
}

// isOfTLS reports whether an error is a handshake's: of a certificate, of either side's, or of who does not speak TLS.
func isOfTLS(err error) bool {
	_, unverified := errors.AsType[*tls.CertificateVerificationError](err)
	_, refused := errors.AsType[tls.AlertError](err)
	_, plain := errors.AsType[tls.RecordHeaderError](err)
	// The client of net/http words the last one, and what a server alerts to, itself.
	return unverified || refused || plain || strings.Contains(err.Error(), "HTTP response to HTTPS client") || strings.Contains(err.Error(), "remote error: tls:")
}

func (c *Client) read(response *http.Response, reply []byte, out any) error {
	if response.StatusCode != http.StatusOK {
		return c.refusal(response, reply)
	}
	if out == nil {
		return nil
	}
	if err := json.Unmarshal(reply, out); err != nil {
		return fmt.Errorf("%w at %s: %w", ErrNoBerth, c.address, err)
	}
	return nil
}

// refusal is why there is no answer: a [Fault], or [ErrNoBerth].
func (c *Client) refusal(response *http.Response, reply []byte) error {
	var said faulted
	if json.Unmarshal(reply, &said) == nil && said.Error != nil && said.Error.Message != "" {
		said.Error.Status = response.StatusCode
		return said.Error
	}
	if response.StatusCode == http.StatusUnauthorized {
		return &Fault{Status: response.StatusCode, Code: "unauthorized", Message: "the admin listener at " + c.address + " wants its token"}
	}
	if response.StatusCode == http.StatusBadRequest && bytes.Contains(reply, []byte("HTTPS server")) { // as servers of Go's say it
		return fmt.Errorf("%w at %s: %w: it is https://", ErrNoBerth, c.address, ErrTLS)
	}
	// In plain text berth refuses what it does not even look at: it may be another's word, too.
	if text := plain(reply); text != "" && strings.HasPrefix(response.Header.Get("Content-Type"), "text/plain") {
		return fmt.Errorf("%w at %s: HTTP %d: %s", ErrNoBerth, c.address, response.StatusCode, text)
	}
	return fmt.Errorf("%w at %s: HTTP %d", ErrNoBerth, c.address, response.StatusCode)
}

// plain is the first line of a text, if it is short and fit to be shown.
func plain(reply []byte) string {
	const most = 200
	line, _, _ := strings.Cut(string(reply[:min(len(reply), most)]), "\n")
	if strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) {
		return ""
	}
	return line
}
