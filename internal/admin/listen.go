package admin

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"

	"berth/internal/sockets"
)

// isLoopbackName judges a Host header. Only the address and localhost cannot be rebound by
// somebody's DNS.
func isLoopbackName(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.TrimSuffix(strings.TrimPrefix(hostport, "["), "]")
	}
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// open opens what o says, or takes what was handed over.
func (o Options) open(ctx context.Context) (net.Listener, bool, error) {
	if o.Inherited == nil {
		return listen(ctx, o.Listen, o.Token != "", o.ReusePort)
	}
	tcp, isTCP := o.Inherited.Addr().(*net.TCPAddr)
	if isTCP && !tcp.IP.IsLoopback() && o.Token == "" {
		return nil, false, fmt.Errorf("%w: %s", ErrTokenRequired, tcp)
	}
	return o.Inherited, isTCP && tcp.IP.IsLoopback(), nil
}

// listen resolves a name before the port is opened: what was judged to be loopback is what is
// listened on.
func listen(ctx context.Context, address string, hasToken, reuse bool) (listener net.Listener, loopbackOnly bool, err error) {
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		listener, err = listenUnix(ctx, path)
		return listener, false, err
	}
	tcp, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, false, fmt.Errorf("admin: resolving the address: %w", err)
	}
	loopbackOnly = tcp.IP.IsLoopback()
	if !loopbackOnly && !hasToken {
		return nil, false, fmt.Errorf("%w: %s", ErrTokenRequired, address)
	}
	opened, err := sockets.Listen(ctx, tcp.String(), reuse)
	if err != nil {
		return nil, false, fmt.Errorf("admin: listening: %w", err)
	}
	return opened, loopbackOnly, nil
}

func listenUnix(ctx context.Context, path string) (net.Listener, error) {
	if strings.HasPrefix(path, "@") {
		return nil, errNoFile
	}
	if err := removeStale(ctx, path); err != nil {
		return nil, err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "unix", path)
	if err != nil {
		return nil, fmt.Errorf("admin: listening: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("admin: closing the socket to others: %w", err), listener.Close())
	}
	return listener, nil
}

// removeStale removes a socket that a killed process left: one that refuses connections. Anything
// else is left for Listen to fail on.
func removeStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Type() != fs.ModeSocket {
		return nil
	}
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "unix", path)
	if err == nil {
		return conn.Close()
	}
	if !errors.Is(err, syscall.ECONNREFUSED) {
		return nil
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("admin: removing a stale socket: %w", err)
	}
	return nil
}
