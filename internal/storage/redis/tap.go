package redis

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
)

// tap tells lanes which connection is behind one of the driver's, so that they write to it and read from it themselves:
// the driver makes it, authenticates, and closes it when there is another master. The driver shows nobody its
// connections; the one is meant that a word goes by which only a lane says.
type tap struct {
	word   string       // none else says it; a lane's number follows
	asking atomic.Int32 // lanes
	found  [mostLanes]*tapped
}

func newTap(client *redis.Client) *tap {
	t := &tap{word: "lane-" + rand.Text() + "-"}
	client.AddHook(t)
	return t
}

// find is what is behind conn, for that lane.
func (t *tap) find(ctx context.Context, lane int, conn *redis.Conn) (*tapped, error) {
	t.asking.Add(1)
	defer t.asking.Add(-1)
	t.found[lane] = nil
	err := conn.Process(ctx, once{redis.NewStatusCmd(ctx, "ping", t.word+string(rune('0'+lane)))})
	found := t.found[lane]
	switch {
	case found != nil && err != nil && isAnswer(err):
		err = nil // what a command is refused for is told to each
	case found == nil && err == nil:
		err = errUnseen
	}
	return found, err
}

var errUnseen = errors.New("storage: the driver has made a connection that was not seen")

func isAnswer(err error) bool {
	_, answer := err.(redis.Error)
	return answer
}

// tapped is a connection of the driver's.
type tapped struct {
	net.Conn
	tap  *tap
	made time.Time
}

// Write implements net.Conn.
func (c *tapped) Write(b []byte) (int, error) {
	if c.tap.asking.Load() > 0 {
		if at := bytes.Index(b, []byte(c.tap.word)); at >= 0 {
			c.tap.found[b[at+len(c.tap.word)]-'0'] = c // by the goroutine that asks
		}
	}
	return c.Conn.Write(b)
}

// tappedSocket is one that the driver looks at before it is used: it is closed, perhaps.
type tappedSocket struct {
	*tapped
	syscall.Conn
}

// DialHook implements redis.Hook.
func (t *tap) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := next(ctx, network, address)
		if err != nil {
			return nil, err
		}
		c := &tapped{Conn: conn, tap: t, made: time.Now()}
		if socket, ok := conn.(syscall.Conn); ok {
			return tappedSocket{c, socket}, nil
		}
		return c, nil
	}
}

// ProcessHook implements redis.Hook.
func (*tap) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook implements redis.Hook.
func (*tap) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
