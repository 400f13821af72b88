package mcp

import (
	"fmt"
	"testing"
)

func TestOfferIsWhatAServerSaysOfItself(t *testing.T) {
	for result, want := range map[string]string{
		`{"protocolVersion":"2025-11-25","capabilities":{"tools":{ }}}`:                  `[2025-11-25] {"tools":{ }}`,
		`{"supportedVersions":["2026-07-28","x"],"capabilities":{},"resultType":"done"}`: `[2026-07-28 x] {}`,
		`{"capabilities":{}}`:                     `[] {}`,
		`{"protocolVersion":1,"capabilities":{}}`: `[] `,
		``: `[] `,
	} {
		versions, capabilities := Offer([]byte(result))
		if got := fmt.Sprintf("%v %s", versions, capabilities); got != want {
			t.Errorf("%s: got %s, want %s", result, got, want)
		}
	}
}
