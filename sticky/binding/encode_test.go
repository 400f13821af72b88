package binding

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawn is any binding: one of its strings at most is not plain, for one is enough to leave it to json.
func drawn(t *rapid.T) (b Binding) {
	plain := rapid.OneOf(rapid.Just(""), rapid.StringMatching(`[a-zA-Z0-9 ._:/-]{1,12}`))
	odd := rapid.OneOf(rapid.StringMatching(`[ -~]{1,3}`), rapid.StringN(1, 3, -1), rapid.SampledFrom([]string{"<", "\x7f", "\u2028", "\xff", "\x00"}))
	at := rapid.Custom(func(t *rapid.T) time.Time {
		zone := rapid.SampledFrom([]*time.Location{time.UTC, time.Local, time.FixedZone("", 5400), time.FixedZone("", -3601)}).Draw(t, "zone")
		return time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "s"), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).In(zone)
	})
	fields := reflect.ValueOf(&b).Elem()
	oddOne := rapid.IntRange(-9, fields.NumField()-1).Draw(t, "which is odd")
	for i := range fields.NumField() {
		switch f := fields.Field(i).Addr().Interface().(type) {
		case *string:
			if *f = plain.Draw(t, "text"); i == oddOne {
				*f = odd.Draw(t, "odd text")
			}
		case *bool:
			*f = rapid.Bool().Draw(t, "flag")
		case *int64:
			*f = rapid.OneOf(rapid.Just(int64(0)), rapid.Int64()).Draw(t, "n")
		case *time.Time:
			if rapid.Bool().Draw(t, "set") {
				*f = at.Draw(t, "at")
			}
		default:
			t.Fatalf("a field of type %T", f)
		}
	}
	return b
}

// Berths of all versions read each other's bindings: what is written by hand is what json writes.
func TestABindingIsWrittenAsJSONWritesIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawn(t)
		want, err := json.Marshal(stored{format, b})
		if err != nil {
			want = nil // no time of ours
		}
		if got := b.Encode(); !bytes.Equal(got, want) {
			t.Fatalf("got  %s\nwant %s", got, want)
		}
	})
}

func TestABindingIsReadAsJSONReadsIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := drawn(t)
		text := []byte(b.Encode())
		if rapid.Bool().Draw(t, "changed") && len(text) > 0 {
			at := rapid.IntRange(0, len(text)-1).Draw(t, "at")
			text[at] = rapid.SampledFrom([]byte(`0-9,"{}: tx`)).Draw(t, "byte")
		}
		text = text[:len(text)-rapid.IntRange(0, len(text)).Draw(t, "cut off")*rapid.IntRange(0, 1).Draw(t, "is cut off")]
		var want stored
		failed := json.Unmarshal(text, &want) != nil || want.Format != format || want.Upstream == ""
		got, err := Decode(text)
		if (err != nil) != failed {
			t.Fatalf("%s: got %v, want an error: %v", text, err, failed)
		}
		if err == nil && !reflect.DeepEqual(got, want.Binding) {
			t.Fatalf("%s:\ngot  %+v\nwant %+v", text, got, want.Binding)
		}
	})
}

// What no int64 has is no binding, and what just fits is one.
func TestNumbersOfABindingAreThoseOfAnInt64(t *testing.T) {
	for number, whole := range map[string]bool{
		"9223372036854775807": true, "9223372036854775808": false, "-9223372036854775808": true, "92233720368547758080": false, "01": false, "1.5": false,
	} {
		b, err := Decode([]byte(`{"v":1,"up":"a","expires":"2026-11-26T00:00:00Z","made":` + number + `}`))
		if got := err == nil; got != whole || whole && strconv.FormatInt(b.Made, 10) != number {
			t.Errorf("%s: got %d, %v", number, b.Made, err)
		}
	}
}

func TestWritingAndReadingABindingCostsItsText(t *testing.T) {
	b := Binding{Upstream: "a", Dialect: "extension", Status: "working", Tool: "make", Expires: time.Now(), Made: 1, Until: 2}
	text := []byte(b.Encode())
	if !new(reading).read(text) {
		t.Errorf("%s is left to json", text)
	}
	if got := testing.AllocsPerRun(100, func() { b.Encode() }); got > 1 {
		t.Errorf("writing: got %v allocations, want 1", got)
	}
	if got := testing.AllocsPerRun(100, func() { _, _ = Decode(text) }); got > 1 {
		t.Errorf("reading: got %v allocations, want 1", got)
	}
}
