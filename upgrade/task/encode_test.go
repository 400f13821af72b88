package task

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
	"unicode/utf8"
)

// fill gives each field in v a value of its own, all the way down; n counts them.
func fill(v reflect.Value, n *int) {
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(int64(*n), int64(*n)).UTC()))
		return
	case json.RawMessage:
		v.SetBytes([]byte(`{"é<":` + string(rune('0'+*n%10)) + `}`))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text \"\\\n\u2028<é " + string(rune('A'+*n)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(-int64(*n))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Struct:
		for _, field := range v.Fields() {
			fill(field, n)
		}
	default:
		panic(v.Kind().String() + " in a record")
	}
}

// A record has every field of a Task, those too that are added one day: the stored form is written by hand, and read
// by the fields' tags.
func TestStoredFormHasEveryField(t *testing.T) {
	var full Task
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	read, err := Decode(full.Encode())
	if err != nil || !reflect.DeepEqual(*read, full) {
		t.Errorf("got  %+v, %v\nwant %+v", read, err, full)
	}
	of := reflect.ValueOf(&full).Elem()
	for i := range of.NumField() {
		one := Task{ID: "T"}
		reflect.ValueOf(&one).Elem().Field(i).Set(of.Field(i))
		if read, err := Decode(one.Encode()); err != nil || !reflect.DeepEqual(*read, one) {
			t.Errorf("%s alone: got %+v, %v\nwant %+v", of.Type().Field(i).Name, read, err, one)
		}
	}
}

func TestTimesAreWrittenAsEncodingJSONWritesThem(t *testing.T) {
	east := time.FixedZone("", 60*60)
	for _, at := range []time.Time{
		time.UnixMilli(1_790_000_000_000).UTC(), time.UnixMilli(1_790_000_000_120).UTC(), time.UnixMilli(1_790_000_000_007).UTC(),
		time.UnixMilli(1_790_000_000_500).In(east), time.Unix(1_790_000_000, 1_230_001).UTC(), time.Date(800, 1, 1, 0, 0, 10, 0, time.UTC),
	} {
		w := writer("{")
		w.time("at", at)
		if want, err := json.Marshal(at); err != nil || string(w) != `{"at":`+string(want) {
			t.Errorf("got %s, want %s (%v)", w, want, err)
		}
	}
}

// What a berth before this one wrote, and what it reads: encoding/json, by the same tags.
func TestStoredFormIsThatOfEncodingJSON(t *testing.T) {
	var full Task
	n := 0
	fill(reflect.ValueOf(&full).Elem(), &n)
	for _, task := range []*Task{&full, {ID: "T"}, {ID: "T", Message: "a\xffb", Created: time.UnixMilli(1).UTC()}} {
		before, err := json.Marshal(stored{format, task})
		if err != nil {
			t.Fatal(err)
		}
		was, err := Decode(before)
		if err != nil {
			t.Fatal(err)
		}
		is, err := Decode(task.Encode())
		if err != nil || !sameJSON(was, is) {
			t.Errorf("got  %+v, %v\nwant %+v", is, err, was)
		}
		if after := task.Encode(); !json.Valid(after) || !utf8.Valid(after) {
			t.Errorf("no JSON: %q", after)
		}
	}
}

// A record is copied with each step: what it takes is a size class of the allocator's, and the next one is a sixth larger.
func TestRecordFitsInItsSizeClass(t *testing.T) {
	if size := reflect.TypeFor[Task]().Size(); size > 768 {
		t.Errorf("a Task takes %d bytes, want at most 768", size)
	}
}

// Terms that equal those written before are not written anew: each member that differs must tell.
func TestTermsAreWrittenAsTheyAre(t *testing.T) {
	usual := Task{ID: "a", Terms: Terms{TTL: time.Hour, PollInterval: time.Second, Timeout: time.Minute, MaxResult: 1 << 20}}
	for i := range reflect.TypeFor[Terms]().NumField() {
		other := usual
		n := i
		fill(reflect.ValueOf(&other.Terms).Elem().Field(i), &n)
		if usual.Terms.equal(&other.Terms) {
			t.Errorf("terms equal others with another %s", reflect.TypeFor[Terms]().Field(i).Name)
		}
		for _, want := range []*Task{&usual, &other, &other, &usual, &usual} {
			if got, err := Decode(want.Encode()); err != nil || !reflect.DeepEqual(got.Terms, want.Terms) {
				t.Errorf("got %+v, %v, want %+v", got.Terms, err, want.Terms)
			}
		}
	}
}
