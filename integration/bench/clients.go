//go:build linux

package main

import (
	"fmt"
	"net"

	"berth/integration/bench/contender"
	"berth/integration/bench/load"
	"berth/integration/bench/upstream"
)

// clients are the connections of a measurement.
type clients []*load.Conn

// callers are the addresses that the clients come from: a proxy that bounds what one caller may do sees several.
const callers = 16

func (b *bench) connect(proxy *contender.Running) (clients, error) {
	var all clients
	for i := range b.connections {
		conn, err := dial(proxy, i)
		if conn != nil {
			all = append(all, conn)
		}
		if err != nil {
			return all, err
		}
	}
	return all, nil
}

// dial makes the i-th connection.
func dial(proxy *contender.Running, i int) (*load.Conn, error) {
	conn, err := load.Dial(proxy.Addresses[i%len(proxy.Addresses)], net.IPv4(127, 0, 1, byte(1+i%callers)))
	if err != nil || proxy.Secure == nil {
		return conn, err
	}
	return conn, conn.Secure(proxy.Secure)
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

// warm has a proxy do some work before its memory is looked at.
func (b *bench) warm(proxy *contender.Running) error {
	clients, err := b.connect(proxy)
	defer clients.close()
	if err != nil {
		return err
	}
	ops, err := clients.ops(kind{prepare: calls(upstream.Echo)}, contender.Contender{})
	if err != nil {
		return err
	}
	return load.Saturate(ops, b.warmUp).Err
}

func (c clients) close() {
	for _, conn := range c {
		conn.Close()
	}
}
