package inbound

import (
	"crypto/sha256"
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

// sumIn is the digest of what tells who calls, by sums.
func sumIn(s *sums, h *wire.Header) [sha256.Size]byte { return s.of(telling(nil, h)) }

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
		parsed("User-Agent", "node/1", "Authorization", "Bearer a"),
		parsed("User-Agent", "node/1", "X-Key", "k"),
		wire.NewHeader("User-Agent", "node/1"), // without its number
		parsed("Accept", "*/*"),
	}
	var s sums
	for round := range 2 * summedSeen {
		for _, h := range headers {
			if got, want := sumIn(&s, h), DigestOf(h, isOfOneMessage); got != want {
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
		sumIn(&s, parsed("User-Agent", "node", own, "mine"))
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
