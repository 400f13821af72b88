package binding

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

// What the near cache gives back is what it was given, whatever field of a binding it stands in.
func TestABindingIsKeptWhole(t *testing.T) {
	at := time.Unix(1_800_000_000, 123_456_789)
	var whole Binding
	for i, field := range reflect.ValueOf(&whole).Elem().Fields() {
		switch v := field.Addr().Interface().(type) {
		case *string:
			*v = strings.Repeat(i.Name, 1+len(i.Name)%3)
		case *time.Time:
			*v = at.Add(time.Duration(len(i.Name)) * time.Second)
		case *bool:
			*v = true
		case *int64:
			*v = int64(len(i.Name))
		default:
			t.Fatalf("%s: a field of type %T that nobody keeps", i.Name, v)
		}
	}
	for name, b := range map[string]Binding{"whole": whole, "empty": {}, "no principal": {Upstream: "a", ID: "id", Expires: at}, "usual": {Upstream: "a", Status: "working", Alias: "b"}} {
		key := Key{Kind: Task, Pool: "p", Principal: b.Principal, ID: "1"}
		k, ok := Pack(&key, &b)
		var got Binding
		if k.Fill(&got); !ok || got != b {
			t.Errorf("%s: got %+v, want %+v", name, got, b)
		}
		if got := k.Of(); got != key.Principal+key.ID {
			t.Errorf("%s: it is of %q, want %+v", name, got, key)
		}
	}
	if _, ok := Pack(&Key{ID: strings.Repeat("x", MostPacked)}, &Binding{Upstream: "a"}); ok {
		t.Error("what is too long is kept")
	}
}
