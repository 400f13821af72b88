package client

import (
	"context"
	"crypto/tls"

	"berth/internal/h1/buffer"
)

// dial makes a connection, and agrees on TLS.
func (h *host) dial(ctx context.Context) (*conn, error) {
	plain, err := h.client.options.Dial(ctx, "tcp", h.address)
	if err != nil {
		return nil, err
	}
	c := &conn{host: h, net: &counted{Conn: plain}}
	if kernel := buffer.Plain(plain); kernel != nil && asksKernel {
		if c.net.raw, err = kernel.SyscallConn(); err != nil {
			plain.Close()
			return nil, err
		}
	}
	if h.config == nil {
		c.in.Reset(c.net)
		c.step = c.converse
		return c, nil
	}
	if c.secure, err = h.handshake(ctx, c.net); err != nil {
		plain.Close()
		return nil, err
	}
	c.in.Reset(c.secure)
	return c, nil
}

func (h *host) handshake(ctx context.Context, over *counted) (*tls.Conn, error) {
	secure := tls.Client(over, h.config())
	if limit := h.client.options.Connect; limit > 0 {
		bounded, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		ctx = bounded
	}
	return secure, secure.HandshakeContext(ctx)
}
