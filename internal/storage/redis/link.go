package redis

import (
	"bufio"
	"context"
	"io"
	"net"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// aMoment is how long a connection is believed to stand after its last use. One that was longer unused is looked at
	// first: a write that a closed one takes may have happened, as far as anybody knows.
	aMoment = 5 * time.Millisecond

	// roomIn is how much is read at once, and mostRoom what is kept of the room for what is written and answered.
	roomIn   = 16 << 10
	mostRoom = 64 << 10

	// tolerance is the part of the time for an answer by which one may have more, or less, than that.
	tolerance = 16
)

// link is a connection that a lane has for itself. One trip at a time goes by it.
type link struct {
	conn    net.Conn
	driver  *redis.Conn // which made it
	socket  *socket     // that conn is; nil: it is none
	in      *bufio.Reader
	out     []byte
	timeout time.Duration // for an answer

	made, used time.Time
	deadline   time.Time // that conn has
}

// newLink has the driver make a connection, or give one that waits.
func (t *trips) newLink(lane int, began time.Time) (*link, error) {
	ctx, cancel := context.WithDeadline(context.Background(), began.Add(t.bound))
	defer cancel()
	driver := t.client.EphemeralConn()
	found, err := t.tap.find(ctx, lane, driver)
	if err != nil {
		_ = driver.Close()
		return nil, err
	}
	conn := found.Conn
	l := &link{conn: conn, driver: driver, socket: socketOf(conn), timeout: t.timeout, made: found.made}
	var from io.Reader = conn
	if l.socket != nil {
		from = l.socket
	}
	l.in = bufio.NewReaderSize(from, roomIn)
	now := time.Now()
	return l, l.until(now, min(l.timeout, t.bound-now.Sub(began)))
}

// until has what conn does end within d from now on.
func (l *link) until(now time.Time, d time.Duration) error {
	l.used, l.deadline = now, now.Add(d)
	return l.conn.SetDeadline(l.deadline)
}

// endBy has what conn does end no later than that, unless end is zero.
func (l *link) endBy(end time.Time) error {
	if end.IsZero() || !l.deadline.After(end) {
		return nil
	}
	l.deadline = end
	return l.conn.SetDeadline(end)
}

// fit reports whether the next trip may go by l. Deadlines are a little late, so that not each trip sets one.
func (l *link) fit(now time.Time, lifetime time.Duration) bool {
	unused := now.Sub(l.used)
	if unused > idleConnection || lifetime > 0 && now.Sub(l.made) >= lifetime || l.in.Buffered() > 0 {
		return false
	}
	l.used = now
	if l.deadline.Sub(now) < l.timeout && l.until(now, l.timeout+l.timeout/tolerance) != nil {
		return false
	}
	return unused < aMoment || l.socket.stands()
}

// exchange sends what those aboard ask, and reads what each is answered.
func (l *link) exchange(aboard []*passenger) error {
	if err := l.say(l.requests(aboard)); err != nil {
		return err
	}
	for _, p := range aboard {
		if err := p.answer.read(l.in); err != nil {
			return err
		}
		p.answered = true
	}
	return nil
}

// say writes out.
func (l *link) say(out []byte) (err error) {
	if l.socket != nil {
		if out, err = l.socket.say(out); err != nil || len(out) == 0 {
			return err
		}
	}
	_, err = l.conn.Write(out)
	return err
}

func (l *link) requests(aboard []*passenger) []byte {
	if len(aboard) == 1 {
		return aboard[0].request
	}
	out := l.out[:0]
	for _, p := range aboard {
		out = append(out, p.request...)
	}
	if cap(out) <= mostRoom {
		l.out = out
	}
	return out
}

// astray reports whether the server has answered that it is the wrong one: its name may stand for another one by now.
func astray(aboard []*passenger) bool {
	for _, p := range aboard {
		why := p.answer.refused()
		if why == nil {
			continue
		}
		if known := lookup(why.Error()); known.code == "READONLY" || known.code == "MOVED" {
			return true
		}
	}
	return false
}

// leave closes l, which the driver then counts no more.
func (l *link) leave() {
	_ = l.driver.Close()
}
