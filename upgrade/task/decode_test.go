package task

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// byReflection reads a record as encoding/json does, nil if it is none.
func byReflection(data []byte) *Task {
	s := stored{Task: new(Task)}
	if err := json.Unmarshal(data, &s); err != nil || !s.isKnown() {
		return nil
	}
	return s.Task
}

// plainRecord is a task that has ended, as most are when they are asked for.
func plainRecord() *Task {
	at := time.UnixMilli(1_782_000_000_123).UTC()
	return &Task{
		ID: "Tabc", Pool: "main", Tool: "report", Version: "2026-07-28", Principal: "alice", Creator: Creator{Credentials: "1.x", Named: "1.y"}, Caller: "digest",
		Size: 613, Declares: "elicitation", Origin: "00-1-2-01", State: Completed, Message: "done", Created: at, Updated: at.Add(time.Second),
		Terms:  Terms{TTL: time.Hour, PollInterval: time.Second, Timeout: time.Minute, MaxResult: 8 << 20, Rerun: true, Unlisted: true, Slots: 2, Queue: "q"},
		Holder: "holder", Round: 1, Upstream: "a", Handed: true, Outcome: "op2", ToolFailed: true, Ops: []string{"op1", "op2"}, Steps: "made+0@holder;ended+a",
	}
}

func TestPlainRecordIsReadByHand(t *testing.T) {
	for name, record := range map[string]*Task{"usual": plainRecord(), "least": {ID: "T"}} {
		data := record.Encode()
		if got := decodePlain(data); got == nil || !reflect.DeepEqual(got, byReflection(data)) {
			t.Errorf("%s: %s is read as %+v", name, data, got)
		}
	}
}

// Whatever stands in place of a byte, or is missing: what is read by hand is what encoding/json reads.
func TestRecordReadByHandIsTheSame(t *testing.T) {
	data := plainRecord().Encode()
	check := func(other []byte) {
		if got := decodePlain(other); got != nil && !reflect.DeepEqual(got, byReflection(other)) {
			t.Errorf("%s is read as %+v", other, got)
		}
	}
	for at := range data {
		for _, c := range []byte("\\\"{}[]:,.0-1eEnN \n\x00\x80\xff") {
			other := bytes.Clone(data)
			other[at] = c
			check(other)
		}
		check(data[:at])
		check(append(bytes.Clone(data[:at]), data[at+1:]...))
	}
	for _, odd := range []string{
		`{"v":1,"id":"T","handed":null}`, `{"v":1,"id":"T","id":"U"}`, `{"v":1,"id":"T","round":1e1}`, `{"v":1,"id":"T","ID":"U"}`, `{"v":1,"id":"T","ops":[]}`,
		`{"v":1,"id":"T","ops":[1]}`, `{"v":1,"id":"T","terms":{"ttl":1},"terms":{"slots":2}}`, `{"v":1,"id":"T","terms":[]}`, `{"v":1,"id":"T"} {}`, ` {"v" : 1 , "id" : "T" } `,
		`{"v":2,"id":"T"}`, `{"v":3,"id":"T"}`, `{"v":1}`, `{"v":1,"id":"T","new":{"a":[1]}}`, `{"v":1,"id":"T","created":"2026-07-28T24:00:00Z"}`, `{"v":1,"id":"T","size":99999999999999999999}`,
	} {
		check([]byte(odd))
	}
}
