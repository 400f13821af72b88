package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"
)

func TestPeekAnswerRefuses(t *testing.T) {
	for name, message := range map[string]string{
		"nothing":                  ``,
		"blanks":                   ` `,
		"no JSON":                  `<html>`,
		"no object":                `"x"`,
		"a list":                   `[]`,
		"a truncated object":       `{"id":1,"result":{}`,
		"trailing bytes":           `{"id":1,"result":{}}x`,
		"a second message":         `{"id":1,"result":{}}{"id":1,"result":{}}`,
		"result twice":             `{"id":1,"result":{"taskId":"a"},"result":{"taskId":"b"}}`,
		"result twice, once not":   `{"id":1,"result":{"taskId":"a"},"result":null}`,
		"id twice":                 `{"id":1,"id":2,"result":{}}`,
		"method twice":             `{"method":"a","method":"b"}`,
		"error twice":              `{"id":1,"error":{"code":1},"error":{"code":2}}`,
		"code twice":               `{"id":1,"error":{"code":1,"code":2}}`,
		"taskId twice":             `{"id":1,"result":{"resultType":"task","taskId":"a","taskId":"b"}}`,
		"taskId twice, escaped":    `{"id":1,"result":{"resultType":"task","taskId":"a","task\u0049d":"b"}}`,
		"taskId twice, one null":   `{"id":1,"result":{"resultType":"task","taskId":"a","taskId":null}}`,
		"resultType twice":         `{"id":1,"result":{"resultType":"complete","resultType":"task","taskId":"a"}}`,
		"status twice":             `{"id":1,"result":{"taskId":"a","status":"working","status":"failed"}}`,
		"task twice":               `{"id":1,"result":{"task":{"taskId":"a"},"task":{"taskId":"b"}}}`,
		"taskId of task twice":     `{"id":1,"result":{"task":{"taskId":"a","taskId":"b"}}}`,
		"taskId of params twice":   `{"method":"notifications/tasks","params":{"taskId":"a","taskId":"b"}}`,
		"taskId far apart":         `{"id":1,"result":{"resultType":"task","taskId":"a"` + filler(2*jsonobject.MaxMembers) + `,"taskId":"b"}}`,
		"taskId twice at the end":  `{"id":1,"result":{"resultType":"task"` + filler(2*jsonobject.MaxMembers) + `,"taskId":"a","taskId":"b"}}`,
		"deep nesting":             `{"id":1,"result":{"x":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}}`,
		"deep nesting without end": `{"id":1,"result":{"x":` + strings.Repeat(`{"x":`, 100_000),
	} {
		t.Run(name, func(t *testing.T) {
			if a, err := PeekAnswer([]byte(message), false); err == nil {
				t.Errorf("read as %s", describe(&a))
			}
		})
	}
}

// filler is n members that mean nothing.
func filler(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"x%d":0`, i)
	}
	return b.String()
}

// What berth does not read is the upstream's and the client's own affair.
func TestPeekAnswerIsLenientWhereItDoesNotRead(t *testing.T) {
	const task = `"resultType":"task","taskId":"a"`
	for name, message := range map[string]string{
		"an unknown member twice":  `{"id":1,"x":1,"x":2,"result":{` + task + `,"y":1,"y":2}}`,
		"duplicates further below": `{"id":1,"result":{` + task + `,"_meta":{"x":1,"x":2,"taskId":"c","taskId":"d"}}}`,
		"invalid UTF-8":            "{\"id\":1,\"result\":{\"x\xff\":\"\xff\",\"x\xfe\":1," + task + "}}",
		"many members":             `{"id":1,"result":{` + task + filler(10*jsonobject.MaxMembers) + `}}`,
		"no jsonrpc":               `{"id":1,"result":{` + task + `}}`,
		"a byte order mark":        "\ufeff" + `{"id":1,"result":{` + task + `}}`,
		"other cases":              `{"id":1,"result":{` + task + `,"TaskID":"b"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			a, err := PeekAnswer([]byte(message), false)
			if err != nil || !a.CreatesTask() || a.Task.ID != "a" {
				t.Errorf("got %s, %v", describe(&a), err)
			}
		})
	}
}

func TestPeekAnswerAliasesTheResult(t *testing.T) {
	data := []byte(`{"id":1, "result" : {"x": 1.0, "taskId":"a"} , "y":{}}`)
	a, err := PeekAnswer(data, false)
	if err != nil || string(a.Result) != `{"x": 1.0, "taskId":"a"}` || string(a.ID) != "1" {
		t.Fatalf("got %s, id %s, %v", a.Result, a.ID, err)
	}
	if &a.Result[0] != &data[bytes.Index(data, a.Result)] {
		t.Error("the result was copied")
	}
}

// A task that stands before the cut is found; what the cut goes through does not
// count. The digits of a number once did: of 3600000 ms, 36 were read.
func TestPeekAnswerReadsUpToACut(t *testing.T) {
	const whole = `{"jsonrpc":"2.0","id":1234,"result":{"resultType":"task","taskId":"t-1","status":"working","ttlMs":3600000,"x":[{"y":"z"}]}}`
	found := strings.Index(whole, `,"status"`)
	for end := range len(whole) {
		a, err := PeekAnswer([]byte(whole[:end]), true)
		if err != nil {
			t.Fatalf("cut after %s: %v", whole[:end], err)
		}
		if a.CreatesTask() != (end >= found) || a.Task.ID != "" && a.Task.ID != "t-1" {
			t.Errorf("cut after %s: got %s", whole[:end], describe(&a))
		}
		if a.Task.TTL != 0 && a.Task.TTL != time.Hour || a.ID != nil && string(a.ID) != "1234" || a.Result != nil && end < len(whole)-1 {
			t.Errorf("cut after %s: got %s, result %s", whole[:end], describe(&a), a.Result)
		}
	}
}

func TestPeekAnswerRefusesEvenUpToACut(t *testing.T) {
	for _, data := range []string{
		`{"id":1,"result":{"resultType":"task","taskId":"a","taskId":"b","x":`,
		`{"id":1,"result":{"resultType":"task",}`,
		`{"id":1,"result":{}} {`,
		`<html><body>`,
		// What is cut off before the colon was named all the same.
		`{"id":1,"result":{"resultType":"task","taskId":"a","taskId"`,
	} {
		if a, err := PeekAnswer([]byte(data), true); err == nil {
			t.Errorf("%s is read as %s", data, describe(&a))
		}
	}
}

func TestPeekAnswerReadsTimesToLive(t *testing.T) {
	const century = 100 * 365 * 24 * time.Hour
	for ttl, want := range map[string]time.Duration{
		`60000`: time.Minute, `0`: 0, `-5`: 0, `1.5`: 1500 * time.Microsecond, `6e4`: time.Minute, `1e300`: century, `9223372036854775808`: century,
	} {
		a, err := PeekAnswer([]byte(`{"id":1,"result":{"task":{"taskId":"a","ttl":`+ttl+`}}}`), false)
		if err != nil || a.Task.TTL != want {
			t.Errorf("%s: got %v, %v, want %v", ttl, a.Task, err, want)
		}
	}
	for _, ttl := range []string{`null`, `"60000"`, `1e999`, `{}`, `"Infinity"`, `true`} {
		a, err := PeekAnswer([]byte(`{"id":1,"result":{"task":{"taskId":"a","ttl":`+ttl+`}}}`), false)
		if err != nil || a.Task.TTL != 0 {
			t.Errorf("%s: got %v, %v", ttl, a.Task, err)
		}
	}
}

func TestMessagesOfABatchThatWasCut(t *testing.T) {
	for data, whole := range map[string]bool{` [{"a":1}, {"b":2},{"c"`: false, `[{"a":1},{"b":2}] x`: false, `[{"a":1},{"b":2}]`: true} {
		var got []string
		var fault error
		for message, err := range Messages([]byte(data)) {
			if fault = err; err == nil {
				got = append(got, string(message))
			}
		}
		if fmt.Sprint(got) != `[{"a":1} {"b":2}]` || (fault == nil) != whole {
			t.Errorf("%s: got %v, %v", data, got, fault)
		}
	}
}

// readWhole walks a message without judging its shape.
func readWhole(data []byte, cut bool) (*answerReader, Answer, error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	r := &answerReader{Scanner: jsonscan.New(data), cut: cut}
	var a Answer
	r.readMessage(&a)
	return r, a, r.Err()
}

func FuzzPeekAnswer(f *testing.F) {
	for _, message := range []string{
		`{"jsonrpc":"2.0","id":12,"result":{"resultType":"task","taskId":"a","status":"working","ttlMs":60000}}`,
		`{"jsonrpc":"2.0","id":12,"result":{"content":[],"task":{"taskId":"a","ttl":null}}}`,
		`{"jsonrpc":"2.0","id":12,"error":{"code":-32602,"message":"x"},"result":null}`,
		`{"method":"notifications/tasks","params":{"taskId":"a","taskId":"b"}}`,
		`{"id":1,"result":{"task\u0049d":"a","taskId":"b"}}`, "\ufeff{}", `{"id":1}{`, `{"result":{"task":{"ttl":1,"ttl":2}}}`,
		`{"result":{"a":1,"a":2,"nextCursor":"x","requestState":"y"},"x":"\ud800"}`, `[{}]`, ``,
	} {
		f.Add([]byte(message), uint16(len(message)/2))
	}
	f.Fuzz(func(t *testing.T, data []byte, at uint16) {
		whole, err := PeekAnswer(data, false)
		if wantErr := !validAnswer(data); (err != nil) != wantErr {
			t.Fatalf("%q: error %v, want one: %v", data, err, wantErr)
		}
		prefix := data[:min(int(at), len(data))]
		if string(prefix) == "\xef" || string(prefix) == "\xef\xbb" {
			return // half a byte order mark, which no cut goes through
		}
		part, partErr := PeekAnswer(prefix, true)
		if err != nil {
			return
		}
		if partErr != nil {
			t.Fatalf("%q is valid, but its prefix %q is not: %v", data, prefix, partErr)
		}
		if whole.Result != nil && !json.Valid(bytes.ToValidUTF8(whole.Result, nil)) {
			t.Fatalf("%q: the result is %q", data, whole.Result)
		}
		checkPrefix(t, prefix, data)
		if part.CreatesTask() && whole.CreatesTask() && part.Dialect == whole.Dialect && part.Task.ID != whole.Task.ID {
			t.Fatalf("%q creates %q, its prefix %q %q", data, whole.Task.ID, prefix, part.Task.ID)
		}
	})
}

// checkPrefix: what is read in a prefix of data is read in data too.
func checkPrefix(t *testing.T, prefix, data []byte) {
	t.Helper()
	part, partial, _ := readWhole(prefix, true)
	whole, all, _ := readWhole(data, false)
	same := func(what, got, want string) {
		t.Helper()
		if got != "" && got != want {
			t.Fatalf("%s of the prefix %q is %q, of %q %q", what, prefix, got, data, want)
		}
	}
	same("id", string(partial.ID), string(all.ID))
	same("method", partial.Method, all.Method)
	same("resultType", partial.ResultType, all.ResultType)
	same("requestState", partial.RequestState, all.RequestState)
	same("nextCursor", partial.NextCursor, all.NextCursor)
	same("result", string(partial.Result), string(all.Result))
	tasks := [][2]Task{{part.result, whole.result}, {part.core, whole.core}, {part.params, whole.params}}
	for _, pair := range tasks {
		same("taskId", pair[0].ID, pair[1].ID)
		same("status", pair[0].Status, pair[1].Status)
	}
	if partial.ErrorCode != 0 && partial.ErrorCode != all.ErrorCode {
		t.Fatalf("the code of the prefix %q is %d, of %q %d", prefix, partial.ErrorCode, data, all.ErrorCode)
	}
}

// Names of members that are read, and so may not stand in their object twice.
var (
	messageNames = []string{"id", "method", "params", "result", "error"}
	taskNames    = []string{"taskId", "status", "statusMessage", "ttlMs", "ttl", "keepAlive"}
	resultNames  = append([]string{"resultType", "requestState", "nextCursor", "protocolVersion", "task"}, taskNames...)
	errorNames   = []string{"code"}
)

// validAnswer tells by encoding/json whether data is one object that names none
// of the members that are read twice.
func validAnswer(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	root, ok := parseTree(data)
	message, isObject := root.(tree)
	if !ok || !isObject || message.repeats(messageNames) {
		return false
	}
	result, _ := message.get("result").(tree)
	params, _ := message.get("params").(tree)
	failure, _ := message.get("error").(tree)
	core, _ := result.get("task").(tree)
	return !result.repeats(resultNames) && !params.repeats(taskNames) && !failure.repeats(errorNames) && !core.repeats(taskNames)
}

// Some servers answer 1 with "1", and clients take that.
func TestAnAnswerMayTellItsIDAsAText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		id, asked string
		want      bool
	}{{"1", "1", true}, {`"1"`, "1", true}, {"1", `"1"`, true}, {"1.0", "1", true}, {`"2"`, "1", false}, {"null", `"null"`, false}, {`"a"`, `"b"`, false}} {
		a, err := PeekAnswer([]byte(`{"jsonrpc":"2.0","id":`+c.id+`,"result":{}}`), false)
		if got := a.MayAnswer([]byte(c.asked)); err != nil || got != c.want {
			t.Errorf("%s to %s: got %v, %v", c.id, c.asked, got, err)
		}
	}
}

// The code of an error is a number, however that is written.
func TestCodesAreNumbers(t *testing.T) {
	t.Parallel()
	for written, want := range map[string]int{
		"-32602": -32602, "-32602.0": -32602, "-3.2602e4": -32602, "0": 0, "-0.0": 0, "7E0": 7,
		"1.5": 0, "1e300": 0, "-99999999999999999999": 0, `"-32602"`: 0, "null": 0, "{}": 0,
	} {
		a, err := PeekAnswer([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":`+written+`,"message":"m"}}`), false)
		if err != nil || a.ErrorCode != want {
			t.Errorf("%s: got %d, %v", written, a.ErrorCode, err)
		}
	}
	if !DemandsTasks([]byte(`{"error":{"code":-32021.0,"data":{"requiredCapabilities":{"extensions":{"` + TasksExtension + `":{}}}}}}`)) {
		t.Error("a refusal is not read whose code is written as -32021.0")
	}
}

func TestLastIDIsAMemberOfTheResponse(t *testing.T) {
	for end, want := range map[string]string{
		`xx"},"jsonrpc":"2.0","id":1}`:          "1",
		`xx","id" : "a,b" , "jsonrpc":"2.0" } `: `"a,b"`,
		`x,"id":8},"id":9}`:                     "9",
		`x,"id":8}}`:                            "",
		`x,"id":8},"jsonrpc":"2.0"}`:            "",
		`x,\"id\":8}"}`:                         "",
		`,"id":1`:                               "",
		``:                                      "",
	} {
		if got := LastID([]byte(end)); string(got) != want {
			t.Errorf("%s: got %q, want %q", end, got, want)
		}
	}
}
