package h1_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

// FuzzServer plays any bytes, split anywhere, to both servers.
func FuzzServer(f *testing.F) {
	for _, c := range requestCases() {
		f.Add([]byte(c.raw), []byte{})
		f.Add([]byte(c.raw), []byte{1, 2, 3, 7, 1, 1, 20})
	}
	f.Fuzz(func(t *testing.T, raw, cuts []byte) {
		if len(raw) > 64<<10 || len(cuts) > 4<<10 {
			return
		}
		synctest.Test(t, func(t *testing.T) { compareServers(t, split(raw, cuts)) })
	})
}

// compareServers fails if our server took for a request what net/http did not, or took it otherwise.
func compareServers(t *testing.T, pieces [][]byte) {
	t.Helper()
	got, want := play(t, ours, pieces), play(t, netHTTP, pieces)
	if fault := differs(got, want); fault != "" {
		t.Fatalf("%s\nsent %q\nours saw %v, answered %s, stays %v, rest %q\nnet/http saw %v, answered %s, stays %v",
			fault, pieces, got.seen, got.statuses(), got.stays, got.rest, want.seen, want.statuses(), want.stays)
	}
}

// differs says what got means that want does not; "" if all it means is meant by want, or refused.
func differs(got, want outcome) string {
	if got.rest != "" {
		return "our answers cannot be read"
	}
	for i, r := range got.seen {
		if i >= len(want.seen) {
			return "we saw more requests"
		}
		other := want.seen[i]
		r.header, other.header = comparable(r.header), comparable(other.header)
		if !r.whole && i < len(got.seen)-1 {
			return "we went on after a body that was not whole"
		}
		if !r.whole {
			if !strings.HasPrefix(other.body, r.body) && !strings.HasPrefix(r.body, other.body) {
				return "a body that was not whole differs"
			}
			r.body, r.whole, other.body, other.whole = "", true, "", true
		}
		if r != other {
			return "a request differs: " + r.String() + " for " + other.String()
		}
	}
	if len(got.answers) < len(got.seen) {
		return "we left a request unanswered"
	}
	if len(got.answers) > len(got.seen)+1 {
		return "we answered more than was asked"
	}
	alike := got.statuses() == want.statuses() // net/http waits for the body of an expectation that it refuses, and so may we
	if len(got.answers) > len(got.seen) && (!alike && got.refused() && got.stays || !refusals[got.answers[len(got.seen)].status]) {
		return "what we refused was not ended with a refusal"
	}
	if got.stays && !want.stays && got.early == len(got.raw) { // else it waited for the rest of a head that it refused
		return "our connection stays"
	}
	if alike && len(got.answers) == len(got.seen) && got.whole() == want.whole() && !got.stays && want.stays && !asksToClose(got.seen) {
		return "our connection does not stay"
	}
	return ""
}

// asksToClose reports whether the last request names close among others: net/http's server believes a keep-alive of
// HTTP/1.0 that stands beside it.
func asksToClose(seen []request) bool {
	return len(seen) > 0 && strings.Contains(strings.ToLower(seen[len(seen)-1].header), "close")
}

// refusals are the statuses with which a server refuses a request that nobody sees.
var refusals = map[int]bool{400: true, 408: true, 413: true, 414: true, 417: true, 431: true, 501: true, 505: true}

// comparable is a header without what one of both servers makes of it by design; see differences.
func comparable(header string) string {
	var kept []string
	for line := range strings.Lines(header) {
		if !madeUp[line] {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}

// madeUp are lines of headers that net/http adds: Cache-Control where there is Pragma alone, and a name for itself.
var madeUp = map[string]bool{"Cache-Control: no-cache\n": true, "User-Agent: Go-http-client/1.1\n": true}
