// Package jsontest reads JSON for tests by an independent reader, encoding/json.
package jsontest

import (
	"bytes"
	"encoding/json"
	"reflect"
	"runtime"
	"testing"
)

// Decode reads data as encoding/json does.
func Decode(t testing.TB, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || !json.Valid(data) {
		t.Fatalf("encoding/json does not read %.500q: %v", data, err)
	}
	return v
}

// Same fails the test if encoding/json reads got as something else than want.
func Same(t testing.TB, got []byte, want any) {
	t.Helper()
	if v := Decode(t, got); !reflect.DeepEqual(v, want) {
		t.Errorf("got  %.1000s\nwant %.1000v", got, want)
	}
}

// Within returns the object in a member, which is made if there is none.
func Within(t testing.TB, object map[string]any, name string) map[string]any {
	t.Helper()
	if object[name] == nil {
		object[name] = map[string]any{}
	}
	inner, ok := object[name].(map[string]any)
	if !ok {
		t.Fatalf("%s is no object", name)
	}
	return inner
}

// Allocated returns how many bytes do takes from the heap.
func Allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
