package lingering

import (
	"context"
	"strconv"
	"testing"

	"berth/internal/mcp"
)

// What a client cancels that is not under way costs nothing for each call that is, be they of the same ids; others are told of it again and
// again.
func TestACancellationOfWhatIsNotHereCostsLittle(t *testing.T) {
	const calls = 1000
	l := New(nil)
	for i := range calls {
		l.begin(context.Background(), Session{Path: "/mcp", ID: strconv.Itoa(i)}, strconv.Itoa(i%2), func(error) {})
	}
	other := Session{Path: "/mcp", ID: "other"}
	digest := other.digest()
	for where, meant := range map[string]func(*Exchange) bool{
		"here":      func(x *Exchange) bool { return x.in == other },
		"elsewhere": func(x *Exchange) bool { return x.sessionDigest() == digest },
	} {
		l.cancelHere("1", meant)
		if n := testing.AllocsPerRun(10, func() { l.cancelHere("1", meant) }); n > calls/100 {
			t.Errorf("%s: %v allocations", where, n)
		}
	}
	if !l.cancelHere("1.0", func(x *Exchange) bool { return x.sessionDigest() == Session{Path: "/mcp", ID: "7"}.digest() }) || mcp.IDKey([]byte("1.0")) != "1" {
		t.Error("what is here is not found")
	}
}
