package h1_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/wire"
)

var methods = []string{wire.MethodPost, wire.MethodGet, wire.MethodHead, wire.MethodDelete}

// FuzzClient answers a request with any bytes, split anywhere, of both clients.
func FuzzClient(f *testing.F) {
	for _, c := range answerCases() {
		for i, method := range methods {
			if method == c.method || c.method == "" {
				f.Add(uint8(i), []byte(c.raw), []byte{}, c.ends)
				f.Add(uint8(i), []byte(c.raw), []byte{1, 2, 3, 7, 1, 1, 20}, !c.ends)
			}
		}
	}
	f.Fuzz(func(t *testing.T, method uint8, raw, cuts []byte, ends bool) {
		if len(raw) > 300<<10 || len(cuts) > 4<<10 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			compareClients(t, methods[int(method)%len(methods)], split(raw, cuts), ends)
		})
	})
}

// compareClients fails if our client took for an answer what net/http did not, or took it otherwise.
func compareClients(t *testing.T, method string, pieces [][]byte, ends bool) {
	t.Helper()
	got, want := ask(t, mine, method, pieces, ends), ask(t, theirs, method, pieces, ends)
	if fault := misread(got, want); fault != "" {
		t.Fatalf("%s\n%s answered %q, ends %v\nours    %v\nnet/http %v", fault, method, pieces, ends, got, want)
	}
}

// misread says what got means that want does not; "" if all it means is meant by want, or refused.
func misread(got, want exchanged) string {
	switch {
	case strings.HasPrefix(got.again, "was given"):
		return "the next request was given what was not for it"
	case got.again == "kept" && want.again != "kept":
		return "our connection is used again"
	case strings.HasPrefix(got.again, "failed") && !strings.HasPrefix(want.again, "failed"):
		return "our next request failed"
	case got.failure == errGarbled: // what net/http takes, or waits for more of
		return ""
	case got.failure != want.failure && got.failure != "":
		return "the failure differs"
	case got.failure != "":
		return ""
	case want.failure != "":
		return "we took it for an answer"
	}
	if !got.whole {
		if !strings.HasPrefix(want.body, got.body) && !strings.HasPrefix(got.body, want.body) {
			return "a body that was not whole differs"
		}
		got.body, got.whole, want.body, want.whole = "", true, "", true
	}
	got.again, want.again = "", ""
	got.header, want.header = comparable(got.header), comparable(want.header)
	if got != want {
		return "the answer differs"
	}
	return ""
}
