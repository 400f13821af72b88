//go:build !unix || solaris || aix

package storage

// writable leaves the question to whoever makes the file.
func writable(string) error { return nil }
