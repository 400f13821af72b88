//go:build !unix

package client

const asksKernel = false

func (*counted) readOnce(uintptr) bool { return true }

func (*conn) converse(uintptr) bool { return true }
