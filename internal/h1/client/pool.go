package client

import (
	"context"
	"errors"
	"net/url"
	"os"
	"slices"
	"time"
)

const (
	// idleTime is shorter than the keep-alive of common MCP servers (Node
	// closes idle connections after 5 s): a request that meets the server's closing
	// cannot be repeated if it calls a tool.
	idleTime = 4 * time.Second
	maxIdle  = 4096 // of an upstream
	maxDials = 256  // of an upstream, at once
)

// errGone: the upstream is another host by now.
var errGone = errors.New("http1: connections to it are another's affair")

// take lends a connection to the upstream of a URL.
func (c *Client) take(t *terms, u *url.URL) (*conn, error) {
	for {
		h, err := c.host(u)
		if err != nil {
			return nil, err
		}
		conn, err := h.take(t)
		if err != errGone {
			return conn, err
		}
	}
}

func (h *host) take(t *terms) (*conn, error) {
	for {
		conn, turn, err := h.next()
		switch {
		case err != nil:
			return nil, err
		case conn == nil:
			if conn, err = h.make(t, turn); err != nil {
				return nil, err
			}
			if conn.delayed = true; !conn.used || conn.rests(time.Now()) {
				return conn, nil
			}
		case conn.rests(t.begun):
			return conn, nil
		}
		h.drop(conn)
	}
}

// next lends the connection that was used last. Without one it gives leave to make one, or a place in the line
// of those who wait for that.
func (h *host) next() (*conn, chan *conn, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := len(h.idle) - 1
	switch {
	case h.gone:
		return nil, nil, errGone
	case last >= 0:
		conn := h.idle[last]
		h.idle[last] = nil
		h.idle = h.idle[:last]
		h.lent++
		return conn, nil, nil
	case h.dialling < maxDials:
		h.dialling++
		return nil, nil, nil
	}
	turn := make(chan *conn, 1)
	h.line = append(h.line, turn)
	return nil, turn, nil
}

// make makes a connection, once it is its turn; nil: it is.
func (h *host) make(t *terms, turn chan *conn) (*conn, error) {
	ctx, cancel := t.connecting()
	defer cancel()
	if turn != nil {
		if conn, err := h.await(ctx, turn); conn != nil || err != nil {
			return conn, err
		}
	}
	conn, err := h.dial(ctx)
	h.dialled(err == nil)
	if err != nil && t.ctx.Err() == nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return conn, err
}

// await waits for a connection that comes back, or for leave to make one.
func (h *host) await(ctx context.Context, turn chan *conn) (*conn, error) {
	var tooLong <-chan time.Time
	if limit := h.client.options.Connect; limit > 0 {
		timer := time.NewTimer(limit)
		defer timer.Stop()
		tooLong = timer.C
	}
	err := os.ErrDeadlineExceeded
	select {
	case conn := <-turn:
		return conn, nil
	case <-tooLong:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	h.mu.Lock()
	if i := slices.Index(h.line, turn); i >= 0 {
		h.line = slices.Delete(h.line, i, i+1)
		h.mu.Unlock()
		return nil, err
	}
	h.mu.Unlock()
	if conn := <-turn; conn != nil { // it came meanwhile
		h.put(conn)
	} else {
		h.dialled(false)
	}
	return nil, err
}

// dialled ends the making of a connection, which is lent if it is made, and passes the leave for that on.
func (h *host) dialled(made bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.dialling--
	if made {
		h.lent++
	}
	if turn := h.first(); turn != nil {
		h.dialling++
		turn <- nil
	}
}

// first takes whoever has waited longest out of the line.
func (h *host) first() chan *conn {
	if len(h.line) == 0 {
		return nil
	}
	turn := h.line[0]
	h.line = slices.Delete(h.line, 0, 1)
	return turn
}
