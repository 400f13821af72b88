//go:build !linux

package sockets

func (l *Listener) steerAway() {}

func (l *Listener) steerBack() {}
