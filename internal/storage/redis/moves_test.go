package redis

import (
	"context"
	"errors"
	"net"
	"testing"

	"github.com/redis/go-redis/v9"
)

// Another master is told of once, by the first sentinel that names it, and the driver asks for it then. What a sentinel says first is
// nothing new, nor what one says that lags behind.
func TestAnotherMasterIsToldOfOnce(t *testing.T) {
	var told, asked int
	client := redis.NewClient(&redis.Options{Dialer: func(context.Context, string, string) (net.Conn, error) {
		asked++
		return nil, errors.New("nobody is there")
	}})
	defer client.Close()
	m := &moves{client: client, bound: 1, moved: func() { told++ }}
	var first, second, late, fresh string
	for i, step := range []struct {
		sentinel *string
		names    string
		want     int
	}{
		{&first, "old", 0}, {&second, "old", 0}, {&late, "old", 0}, {&first, "old", 0},
		{&first, "new", 1}, {&second, "new", 1}, {&late, "old", 1}, {&fresh, "old", 1}, {&late, "new", 1},
		{&second, "old", 2},
	} {
		if m.names(t.Context(), step.sentinel, step.names); told != step.want || asked != step.want {
			t.Errorf("step %d: told %d times, asked %d times, want %d", i, told, asked, step.want)
		}
	}
}

// Nothing is asked of another server before it is told of. The first is no other.
func TestAnotherServerIsToldOfBeforeItIsAsked(t *testing.T) {
	told := 0
	m := &moves{moved: func() { told++ }}
	here, there := net.Pipe()
	defer here.Close()
	defer there.Close()
	server := ""
	dial := m.DialHook(func(context.Context, string, string) (net.Conn, error) { return at{here, server}, nil })
	for i, step := range []struct {
		server string
		want   int
	}{{"a", 0}, {"a", 0}, {"b", 1}, {"b", 1}, {"a", 2}} {
		server = step.server
		if _, err := dial(t.Context(), "", ""); err != nil || told != step.want {
			t.Errorf("step %d: told %d times, %v, want %d", i, told, err, step.want)
		}
	}
}

// at is a connection to a server.
type at struct {
	net.Conn
	server string
}

func (a at) RemoteAddr() net.Addr { return address(a.server) }

type address string

func (address) Network() string  { return "tcp" }
func (a address) String() string { return string(a) }
