//go:build linux

package main

import (
	"fmt"
	"net"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
)

// clients are the connections of a measurement.
type clients []*load.Conn

// callers are the addresses that the clients come from: a proxy that bounds what one caller may do sees several.
const callers = 16

func (b *bench) connect(proxy *contender.Running) (clients, error) {
	var all clients
	for i := range b.connections {
		conn, err := dial(proxy, i)
		if err != nil {
			return all, err
		}
		all = append(all, conn)
	}
	return all, nil
}

// dial makes the i-th connection.
func dial(proxy *contender.Running, i int) (*load.Conn, error) {
	return load.Dial(proxy.Addresses[i%len(proxy.Addresses)], net.IPv4(127, 0, 1, byte(1+i%callers)))
}

func (c clients) ops(k kind, to contender.Contender) ([]load.Op, error) {
	var all []load.Op
	for _, conn := range c {
		op, err := k.prepare(conn, to)
		if err != nil {
			return nil, fmt.Errorf("preparing %s: %w", k.name, err)
		}
		all = append(all, op)
	}
	return all, nil
}

func (c clients) close() {
	for _, conn := range c {
		conn.Close()
	}
}
