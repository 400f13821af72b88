package task

import (
	"reflect"
	"testing"
)

func TestPackedCallIsTheSame(t *testing.T) {
	c := &Call{
		Body: []byte(`{}`), Own: map[string][]string{"Mcp-Name": {"slow"}},
		Envelope: Envelope{Host: "h", Query: "q", Header: map[string][]string{"X-Many": {"b", "a", "b"}, "X-User": {"J\xf6rg"}}, Bare: true},
	}
	p := Pack(c)
	if got := p.Unpack(); !reflect.DeepEqual(got, c) {
		t.Errorf("got %+v, want %+v", got, c)
	}
}
