package inbound

import (
	"crypto/sha256"
	"testing"

	"berth/internal/wire"
)

// Only the order of one name's values tells headers apart.
func TestADigestIsTheSameInAnyOrderOfNames(t *testing.T) {
	want := sha256.Sum256([]byte("Cookie\x00b\x00Cookie\x00a\x00User-Agent\x00x\x00X-Key\x00k\x00"))
	without := func(name string) bool { return name == "Accept" }
	for _, pairs := range [][]string{
		{"Cookie", "b", "Cookie", "a", "User-Agent", "x", "X-Key", "k"},
		{"X-Key", "k", "Cookie", "b", "Accept", "y", "Cookie", "a", "User-Agent", "x"},
		{"User-Agent", "x", "Cookie", "b", "X-Key", "k", "Cookie", "a", "Accept", "y"},
	} {
		if got := DigestOf(wire.NewHeader(pairs...), without); got != want {
			t.Errorf("%q: got %x, want %x", pairs, got, want)
		}
	}
	if DigestOf(wire.NewHeader("Cookie", "a", "Cookie", "b", "User-Agent", "x", "X-Key", "k"), without) == want {
		t.Error("values in another order have the same digest")
	}
	if got := DigestOf(wire.NewHeader("Accept", "y"), without); got != sha256.Sum256(nil) {
		t.Errorf("got %x of nothing", got)
	}
}
