package admission

import (
	"errors"
	"log/slog"
	"net/url"
	"testing"

	"berth/internal/mcp"
	"berth/internal/wire"
	"berth/proxy/fault"
	"berth/proxy/inbound"
)

// noTasks is for work that becomes no task.
func noTasks(*inbound.Call) Keeper { return nil }

func gateOf(l inbound.Limits) *Gate {
	return New(l.WithDefaults(), nil, slog.New(slog.DiscardHandler))
}

func held(g *Gate) [3]int64 { return [3]int64{g.calls.Held(), g.streams.Held(), g.bodies.Held()} }

// A stream is no call any more once it stands, and what a seat holds is given back once.
func TestWhatASeatHoldsIsGivenBackOnce(t *testing.T) {
	for name, c := range map[string]struct {
		method string
		want   [3]int64
	}{
		"a call":   {wire.MethodPost, [3]int64{1, 0, 7}},
		"a stream": {wire.MethodGet, [3]int64{0, 1, 7}},
	} {
		g := gateOf(inbound.Limits{})
		seat := g.Seat("alice")
		if err := errors.Join(seat.Hold(3), seat.Hold(4), seat.Enter(), seat.Place(callOf(c.method), noTasks)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := held(g); got != c.want {
			t.Errorf("%s: calls, streams and bytes are %v, want %v", name, got, c.want)
		}
		for range 2 {
			seat.Leave()
		}
		if got := held(g); got != [3]int64{} {
			t.Errorf("%s: %v is still held", name, got)
		}
	}
}

func callOf(method string, calls ...mcp.Call) *inbound.Call {
	call := &inbound.Call{
		HTTP: &wire.Request{Method: method, URL: new(url.URL)}, Message: mcp.Message{Calls: calls},
		Endpoint: &inbound.Endpoint{}, Settings: &inbound.Settings{},
	}
	_ = inbound.Arrival{Call: call}.FindSession() // it has none
	return call
}

// The last tenth of the calls is for work that has begun.
func TestWorkThatHasBegunHasAReserve(t *testing.T) {
	g := gateOf(inbound.Limits{InFlight: 10, InFlightPerCaller: 10})
	for range 10 {
		seat := g.Seat("alice")
		if err := seat.Enter(); err != nil {
			t.Fatal(err)
		}
	}
	seat := g.Seat("bob")
	begun := callOf(wire.MethodPost, mcp.Call{Kind: mcp.KindRequest, Method: mcp.MethodGetTask, HasTaskID: true})
	if err := seat.Place(begun, noTasks); err != nil {
		t.Errorf("a poll: %v", err)
	}
	fresh := callOf(wire.MethodPost, mcp.Call{Kind: mcp.KindRequest, Method: mcp.MethodCallTool})
	if err := seat.Place(fresh, noTasks); err != fault.Overloaded {
		t.Errorf("new work: got %v, want %v", err, fault.Overloaded)
	}
	if g.Shedding() == "" {
		t.Error("nothing is said of what was shed")
	}
}

// What would be turned away is told as it would be.
func TestTheOutlookIsThatOfTheCall(t *testing.T) {
	for under := range int64(12) {
		g := gateOf(inbound.Limits{InFlight: 10, InFlightPerCaller: 10})
		call := callOf(wire.MethodPost, mcp.Call{Kind: mcp.KindRequest, Method: mcp.MethodCallTool})
		for range under {
			seat := g.Seat("alice")
			_ = seat.Enter()
		}
		_, told := g.Outlook(call, func(*inbound.Call) Keeper { return nil })
		seat := g.Seat("bob")
		got := g.Admit(call)
		if got == nil {
			got = errors.Join(seat.Enter(), seat.Place(call, noTasks))
		}
		if (told == nil) != (got == nil) {
			t.Errorf("%d under way: told %v, got %v", under, told, got)
		}
	}
}

func TestASeatCostsNoAllocation(t *testing.T) {
	g, call := gateOf(inbound.Limits{}), callOf(wire.MethodPost, mcp.Call{Kind: mcp.KindRequest, Method: mcp.MethodGetTask, HasTaskID: true})
	if n := testing.AllocsPerRun(100, func() {
		seat := g.Seat("alice")
		if errors.Join(g.Admit(call), seat.Hold(1), seat.Enter(), seat.Place(call, noTasks)) != nil {
			t.Error("there is room")
		}
		seat.Leave()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
