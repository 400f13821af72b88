package taskwire

import (
	"bytes"
	"encoding/json"
	"runtime"
	"testing"
)

// decode reads data as encoding/json does: an independent reader.
func decode(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || !json.Valid(data) {
		t.Fatalf("encoding/json does not read %.500q: %v", data, err)
	}
	return v
}

// within returns the object in a member, which is made if there is none.
func within(t *testing.T, object map[string]any, name string) map[string]any {
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

// allocated returns how many bytes do takes from the heap.
func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}
