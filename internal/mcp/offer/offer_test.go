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

func TestOfferOfLegacyVersionsAlone(t *testing.T) {
	for result, want := range map[string]bool{
		`{"supportedVersions":["2025-11-25","2024-11-05"],"resultType":"complete"}`: true,
		`{"supportedVersions":["2025-11-25"],"protocolVersion":"2026-07-28"}`:       true,
		`{"supportedVersions":["2026-07-28"],"protocolVersion":"2025-11-25"}`:       false,
		`{"supportedVersions":["2025-11-25","2026-07-28"]}`:                         false,
		`{"supportedVersions":["2025-11-25","2027-01-01"]}`:                         false,
		`{"supportedVersions":["2025-11-25","DRAFT-2026-v1"]}`:                      false, // it may be of either era
		`{"supportedVersions":[]}`:                                                  false,
		`{"supportedVersions":null}`:                                                false,
		`{"supportedVersions":"2025-11-25"}`:                                        false,
		`{"supportedVersions":["2025-11-25",5]}`:                                    false,
		`{"capabilities":{}}`:                                                       false,
		``:                                                                          false,
	} {
		if got := In([]byte(result)).IsLegacyAlone(); got != want {
			t.Errorf("%s: got %v, want %v", result, got, want)
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
