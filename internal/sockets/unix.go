package sockets

import (
	"context"
	"net"
	"syscall"
)

// ListenUnix opens a socket at path for its owner alone. On Linux nobody else could reach it at any time;
// elsewhere the file is made as the umask has it, and the caller is to narrow it.
func ListenUnix(ctx context.Context, path string) (net.Listener, error) {
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error { return c.Control(private) }}
	return config.Listen(ctx, "unix", path)
}
