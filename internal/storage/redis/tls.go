package redis

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// aliveness is the driver's own: what it would set on the connections that it makes.
var aliveness = net.KeepAliveConfig{Enable: true, Idle: 30 * time.Second, Interval: 5 * time.Second, Count: 3}

// secureDialer makes connections over TLS, each by the configuration of its time: the driver's own
// dialer has one for good.
func secureDialer(opts Options, unverified bool) func(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{KeepAliveConfig: aliveness}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, opts.Timeout)
		defer cancel()
		conn, err := dialer.DialContext(ctx, network, address)
		if err != nil {
			return nil, err
		}
		host, _, err := net.SplitHostPort(address)
		if err != nil {
			host = address
		}
		config := opts.TLS(host)
		config.InsecureSkipVerify = unverified
		secure := tls.Client(conn, config)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, err
		}
		return secure, nil
	}
}
