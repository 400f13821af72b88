package h1_test

import (
	"context"
	"net"
	"time"

	"berth/internal/exchange"
	"berth/internal/h1/client"
)

// back is a client of HTTP/1.1.
type back struct {
	name string
	over func(dial exchange.Dial) exchange.Sender
}

// theirs is net/http's client behind package exchange.
var theirs = back{"net/http", func(dial exchange.Dial) exchange.Sender { return exchange.NewClientOver(dial, time.Second) }}

// mine is the client of this package.
var mine = back{"h1", func(dial exchange.Dial) exchange.Sender {
	return client.New(client.Options{Dial: dial, Connect: time.Second})
}}

// upstream answers the first request of its first connection with pieces, and all others properly.
type upstream struct {
	pieces  [][]byte
	whole   bool // the connection ends with pieces
	dials   int
	first   *duplex
	others  []*duplex
	request func(c net.Conn) bool // reads one
}

func (u *upstream) dial(context.Context, string, string) (net.Conn, error) {
	near, far := connect()
	u.dials++
	if u.dials == 1 {
		u.first = near
		go u.serve(near, true)
		return far, nil
	}
	u.others = append(u.others, near)
	go u.serve(near, false)
	return far, nil
}

// polite is a proper answer, which names itself.
const polite = "HTTP/1.1 200 OK\r\nX-Proper: yes\r\nContent-Length: 6\r\n\r\nproper"

func (u *upstream) serve(c *duplex, odd bool) {
	for u.request(c) {
		time.Sleep(time.Millisecond) // whoever wrote the request has noticed by then
		if odd {
			odd = false
			for _, piece := range u.pieces {
				if _, err := c.Write(piece); err != nil {
					return
				}
			}
			if u.whole {
				c.CloseWrite()
			}
			continue
		}
		if _, err := c.Write([]byte(polite)); err != nil {
			return
		}
	}
}
