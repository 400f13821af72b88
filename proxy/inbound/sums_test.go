package inbound

import (
	"crypto/sha256"
	"net/url"
	"strings"
	"testing"

	"berth/internal/wire"
)

// parsed is a header as a parser has it.
func parsed(pairs ...string) *wire.Header {
	h := new(wire.Header)
	for i := 0; i < len(pairs); i += 2 {
		h.Append(wire.Field{Name: pairs[i], Value: pairs[i+1], Judged: true, Usual: wire.UsualOf(pairs[i])})
	}
	return h
}

// unnumbered is a header whose maker knows no numbers of names.
func unnumbered(pairs ...string) *wire.Header {
	h := parsed(pairs...)
	for i := range h.Fields() {
		h.Fields()[i].Usual = 0
	}
	return h
}

// sumIn is the digest of what many say of h, by sums.
func sumIn(s *sums, h *wire.Header) [sha256.Size]byte {
	_, ofMany := telling(nil, nil, h)
	return s.of(ofMany)
}

// A digest is the same whether it is remembered or not, and whatever its place was taken by.
func TestASumThatIsRememberedIsThatOfTheHeader(t *testing.T) {
	headers := []*wire.Header{
		parsed("User-Agent", "node/1", "Accept", "*/*"),
		parsed("User-Agent", "dino/1", "Mcp-Name", "x"), // in the place of the one before
		parsed("User-Agent", "node/1", "Accept-Language", "de"),
		parsed("Accept-Language", "node/1", "User-Agent", "de"),
		parsed("Accept-Language", "de", "User-Agent", "node/1"),
		parsed("User-Agent", "node/1", "User-Agent", "node/2"),
		parsed("User-Agent", "node/2", "User-Agent", "node/1"),
		parsed("User-Agent", "node/1", "Authorization", "Bearer a"), // of which the sum is of the first
		unnumbered("User-Agent", "node/1"),
		unnumbered("Accept-Language", "node/1"),
		parsed("Accept", "*/*"),
	}
	var s sums
	for round := range 2 * summedSeen {
		for _, h := range headers {
			if got, want := sumIn(&s, h), DigestOf(h, func(name string) bool { return !isOfMany(name) }); got != want {
				t.Fatalf("round %d, %v: got %x, want %x", round, h.Fields(), got, want)
			}
		}
	}
	if s.missed.Load() == 0 {
		t.Error("no two of them share a place")
	}
}

// kept is how many digests are remembered.
func (s *sums) kept() (n int) {
	for i := range s.places {
		if s.places[i].Load() != nil {
			n++
		}
	}
	return n
}

func TestNothingOfACallersOwnIsRememberedOfASum(t *testing.T) {
	for _, own := range []string{"Authorization", "Cookie", "Origin", "Referer", "X-Forwarded-User", "X-Api-Key", "Tailscale-User-Login", "Etag"} {
		var s sums
		sumIn(&s, parsed(own, "mine"))
		sumIn(&s, unnumbered(own, "mine"))
		if s.kept() > 0 {
			t.Errorf("%s is remembered", own)
		}
	}
	var s sums
	sumIn(&s, parsed("User-Agent", strings.Repeat("a", mostOfSum+1)))
	if s.kept() > 0 {
		t.Error("a long one is remembered")
	}
	var many []string
	for range UsualFields + 1 {
		many = append(many, "User-Agent", "")
	}
	sumIn(&s, parsed(many...))
	if s.kept() > 0 {
		t.Error("many fields are remembered")
	}
	sumIn(&s, parsed("User-Agent", "node"))
	if s.kept() != 1 {
		t.Error("what many say is not remembered")
	}
}

// Who makes up values costs no memory.
func TestASumThatIsMadeUpTakesNoOthersPlace(t *testing.T) {
	var s sums
	h := parsed("User-Agent", "node")
	sumIn(&s, h)
	place, _ := s.place([]*wire.Field{&h.Fields()[0]})
	usual := place.Load()
	for _, made := range []string{"aaae", "abae", "acae"} {
		sumIn(&s, parsed("User-Agent", made))
	}
	if place.Load() != usual {
		t.Error("it has")
	}
}

// Callers are told apart by all that an upstream may take for a credential, and by nothing else.
func TestCallersWhoSayTheSameHaveOneSum(t *testing.T) {
	apart := []struct {
		query string
		alike []*wire.Header
	}{
		{"", []*wire.Header{parsed(), parsed("Accept", "*/*"), parsed("Mcp-Name", "x", "Traceparent", "00-1"), parsed("Mcp-Param-X", "1")}},
		{"", []*wire.Header{parsed("User-Agent", "node"), unnumbered("User-Agent", "node"), parsed("Mcp-Name", "x", "User-Agent", "node")}},
		{"key=1", []*wire.Header{parsed()}},
		{"", []*wire.Header{parsed("User-Agent", "node", "Authorization", "Bearer a"), parsed("Authorization", "Bearer a", "Accept", "*/*", "User-Agent", "node")}},
		{"", []*wire.Header{parsed("User-Agent", "Bearer a", "Authorization", "node")}},
		{"", []*wire.Header{parsed("Authorization", "Bearer a"), unnumbered("Authorization", "Bearer a")}},
		{"", []*wire.Header{parsed("Authorization", "Bearer a", "Authorization", "Bearer a")}},
		{"", []*wire.Header{parsed("X-Key", "1", "X-Key", "2"), parsed("X-Key", "1", "Accept", "*/*", "X-Key", "2")}},
		{"", []*wire.Header{parsed("X-Key", "2", "X-Key", "1")}},
		{"", []*wire.Header{parsed("X-Key", "12")}},
		{"", []*wire.Header{parsed("X-Key1", "2")}},
		{"", []*wire.Header{parsed("Accept-Language", "node")}},
	}
	seen := make(map[[sha256.Size]byte]int)
	for i, one := range apart {
		for j, h := range one.alike {
			x := Call{HTTP: &wire.Request{Header: h, URL: &url.URL{RawQuery: one.query}}}
			sum := x.CredentialSum()
			if before, ok := seen[sum]; ok != (j > 0) || ok && before != i {
				t.Errorf("%d: %v has the sum of %d: %v", i, h.Fields(), before, ok)
			}
			seen[sum] = i
		}
	}
}
