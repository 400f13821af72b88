//go:build linux

package main

import (
	"bytes"
	"testing"
)

func TestATemplateIsThePollOfAnyTask(t *testing.T) {
	poll := newTemplate("a-0001")
	for _, id := range []string{"b-0002", "a-0001", "a-9999"} {
		if got, want := poll.of(id), pollTask(id); !bytes.Equal(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
