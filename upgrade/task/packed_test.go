package task

import (
	"reflect"
	"testing"
)

func TestPackedCallIsTheSame(t *testing.T) {
	c := &Call{
		Body: []byte(`{}`), Own: Pairs{"Mcp-Name", "slow"},
		Envelope: Envelope{Host: "h", Query: "q", Header: Pairs{"X-Many", "b", "X-Many", "a", "X-User", "J\xf6rg", "X-Many", "b"}, Unsent: "u", Bare: true},
	}
	p := Pack(c)
	if got := p.Unpack(); !reflect.DeepEqual(got, c) {
		t.Errorf("got %+v, want %+v", got, c)
	}
}
