package offer

import (
	"bytes"
	"encoding/json"
	"reflect"
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

// sameJSON fails the test if encoding/json reads got as something else than want.
func sameJSON(t *testing.T, got []byte, want any) {
	t.Helper()
	if v := decode(t, got); !reflect.DeepEqual(v, want) {
		t.Errorf("got  %.1000s\nwant %.1000v", got, want)
	}
}
