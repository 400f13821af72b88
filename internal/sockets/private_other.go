//go:build !unix

package sockets

func private(uintptr) {}
