package offer

import (
	"fmt"
	"testing"
)

func TestOfferIsWhatAServerSaysOfItself(t *testing.T) {
	for result, want := range map[string]string{
		`{"protocolVersion":"2025-11-25","capabilities":{"tools":{ }}}`:                  `[2025-11-25]`,
		`{"supportedVersions":["2026-07-28","x"],"capabilities":{},"resultType":"done"}`: `[2026-07-28 x]`,
		`{"capabilities":{}}`:                     `[]`,
		`{"protocolVersion":1,"capabilities":{}}`: `[]`,
		``: `[]`,
	} {
		if got := fmt.Sprint(In([]byte(result)).Versions); got != want {
			t.Errorf("%s: got %s, want %s", result, got, want)
		}
	}
}

func TestOfferNamesItsServer(t *testing.T) {
	for result, want := range map[string]string{
		`{"serverInfo":{"name":"files","version":"1.2","title":"Files"}}`:                                        "files 1.2",
		`{"supportedVersions":[],"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"files","version":"2"}}}`: "files 2",
		`{"serverInfo":{"name":"files"}}`:                                                                        "files",
		`{"serverInfo":{"name":"a\u001b[31m\n b\u202e","version":"1"}}`:                                          "a [31m b 1",
		`{"serverInfo":"files"}`: "",
		`{}`:                     "",
	} {
		if got := In([]byte(result)).Server; got != want {
			t.Errorf("%s: got %q, want %q", result, got, want)
		}
	}
	if versions := In([]byte(`{"protocolVersion":"2025-11-25","serverInfo":3}`)).Versions; len(versions) != 1 {
		t.Errorf("got %v: who it is matters to no version", versions)
	}
}
