package main

import (
	"fmt"
	"time"
)

// await waits until count has come to n.
func await(what string, n int, within time.Duration, count func() int) error {
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if count() == n {
			return nil
		}
	}
	return fmt.Errorf("%s: %d, want %d", what, count(), n)
}
