package taskwire

import (
	"berth/internal/jsonobject/jsontest"
	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"
)

var viewed = View{
	ID: "t<1>", Status: "working", Created: time.Date(2026, 1, 2, 4, 4, 5, 678_900_000, time.FixedZone("", 3600)),
	Updated: time.Date(2026, 1, 2, 3, 4, 6, 0, time.UTC), TTL: time.Hour, PollInterval: 1500 * time.Millisecond,
}

// view is viewed with a change.
func view(change func(v *View)) View {
	v := viewed
	change(&v)
	return v
}

func TestHandleIsACreateTaskResult(t *testing.T) {
	const times = `"createdAt":"2026-01-02T03:04:05.678Z","lastUpdatedAt":"2026-01-02T03:04:06.000Z"`
	for want, v := range map[string]View{
		`{"resultType":"task","taskId":"t<1>","status":"working",` + times + `,"ttlMs":3600000,"pollIntervalMs":1500,` + mcp.MetaOfOwn + `}`: viewed,
		`{"resultType":"task","taskId":"t<1>","status":"working","statusMessage":"a \"b\"",` + times + `,"ttlMs":null,` + mcp.MetaOfOwn + `}`: view(func(v *View) {
			v.Message, v.TTL, v.PollInterval, v.Result = `a "b"`, 0, 0, []byte(`{}`)
		}),
	} {
		want = `{"jsonrpc":"2.0","id":1,"result":` + want + `}`
		if got := string(v.Handle([]byte("1"))); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	a, err := mcp.PeekAnswer(viewed.Handle([]byte("1")), false)
	if err != nil || !a.CreatesTask() || a.Dialect != mcp.DialectExtension || a.Task != (mcp.Task{ID: "t<1>", Status: "working", TTL: time.Hour}) {
		t.Errorf("read back as %+v, %v", a, err)
	}
}

func TestDetailedBearsWhatItsStatusCallsFor(t *testing.T) {
	all := func(status string) View {
		return view(func(v *View) {
			v.Status, v.Result, v.Error = status, []byte(`{"content":[ ]}`), []byte(`{"code": -1}`)
			v.Inputs = inquiry.Inputs([]inquiry.Input{{Key: "b", Value: []byte(`{"method": "x"}`)}, {Key: "a", Value: []byte(`{}`)}})
		})
	}
	for status, want := range map[string]string{
		"working":        ``,
		"cancelled":      ``,
		"input_required": `,"inputRequests":{"b":{"method": "x"},"a":{}}`,
		"completed":      `,"result":{"resultType":"complete","content":[ ]}`,
		"failed":         `,"error":{"code": -1}`,
	} {
		got := string(detailed(all(status)))
		if rest, ok := strings.CutPrefix(got, `{"resultType":"complete","taskId":"t<1>","status":"`+status+`","createdAt":`); !ok ||
			!strings.HasSuffix(rest, `"pollIntervalMs":1500,`+mcp.MetaOfOwn+want+`}`) || !json.Valid([]byte(got)) {
			t.Errorf("%s: got %s", status, got)
		}
	}
	for _, status := range []string{"completed", "failed", "input_required"} {
		v := view(func(v *View) { v.Status = status })
		jsontest.Decode(t, detailed(v))
	}
}

// Both the result of tasks/get and the result within it say that they are complete, but for
// one that says something else of itself.
func TestCompletedResultSaysSo(t *testing.T) {
	for result, want := range map[string]string{
		`{}`:                                  `{"resultType":"complete"}`,
		` { } `:                               ` {"resultType":"complete" } `,
		`{ "a":1}`:                            `{"resultType":"complete", "a":1}`,
		`{"a":{"resultType":"x"}}`:            `{"resultType":"complete","a":{"resultType":"x"}}`,
		`{"a":1, "resultType" : "complete" }`: `{"a":1, "resultType" : "complete" }`,
		`{"resultType":"odd","a":1}`:          `{"resultType":"odd","a":1}`,
		`{"a":1,"resultType":null}`:           `{"a":1,"resultType":null}`,
		`{"a":1,"resultType":["odd"]}`:        `{"a":1,"resultType":["odd"]}`,
	} {
		v := view(func(v *View) { v.Status, v.Result = "completed", []byte(result) })
		got := detailed(v)
		if !strings.HasSuffix(string(got), `,"result":`+want+`}`) || !json.Valid(got) {
			t.Errorf("%s: got %s", result, got)
		}
	}
}

// What is large is no copy, whatever berth adds to it.
func TestLargeOutcomeIsNotCopied(t *testing.T) {
	half := strings.Repeat("x", 1<<20)
	id := []byte("1")
	for name, outcome := range map[string]string{
		"it says what it is":      `{"content":"` + half + `","resultType":"complete","more":"` + half + `"}`,
		"it does not":             `{"content":"` + half + `","more":"` + half + `"}`,
		"its _meta is what large": `{"content":[],"_meta":{"a":"` + half + `"},"more":"` + half + `"}`,
	} {
		result := []byte(outcome)
		shown := view(func(v *View) { v.Status, v.Result = "completed", result })
		failed := view(func(v *View) { v.Status, v.Error = "failed", result })
		asks := view(func(v *View) { v.Status, v.Inputs = "input_required", result })
		for what, word := range map[string]func() mcp.Parts{
			"response":      func() mcp.Parts { return shown.Response(id) },
			"error":         func() mcp.Parts { return failed.Response(id) },
			"notification":  func() mcp.Parts { return shown.Notification(id) },
			"core response": func() mcp.Parts { return RelatedResponse(id, result, "t") },
			"asks":          func() mcp.Parts { return asks.Response(id) },
			"core error":    func() mcp.Parts { return mcp.ErrorParts(id, result) },
		} {
			if got := jsontest.Allocated(func() { word() }); got > 64<<10 {
				t.Errorf("%s, %s: %d bytes allocated for %d", name, what, got, len(result))
			}
			if !json.Valid(word().Bytes()) {
				t.Errorf("%s, %s: no JSON", name, what)
			}
		}
	}
}

// detailed is the result of a tasks/get.
func detailed(v View) []byte {
	response := v.Response([]byte("1")).Bytes()
	return bytes.TrimSuffix(bytes.TrimPrefix(response, []byte(`{"jsonrpc":"2.0","id":1,"result":`)), []byte("}"))
}

// A notification is the same task, without what belongs to a result (Tasks extension,
// "Task Status Notifications").
func TestTaskNotificationOfAViewIsTheSameTask(t *testing.T) {
	for _, status := range []string{"working", "input_required", "completed", "failed", "cancelled"} {
		v := view(func(v *View) {
			v.Status, v.Message, v.Error = status, "so far", []byte(`{"code":-32603,"message":"no"}`)
			v.Result = []byte(`{"content":[],"_meta":{"a":1}}`)
			v.Inputs = inquiry.Inputs([]inquiry.Input{{Key: "a", Value: []byte(`{"method":"roots/list"}`)}})
		})
		result := jsontest.Decode(t, detailed(v)).(map[string]any)
		if result["resultType"] != "complete" || result["status"] != status {
			t.Errorf("got the result %v", result)
		}
		delete(result, "resultType")
		result["_meta"] = map[string]any{"io.modelcontextprotocol/subscriptionId": "s"}
		got := jsontest.Decode(t, v.Notification([]byte(`"s"`)).Bytes())
		want := map[string]any{"jsonrpc": "2.0", "method": "notifications/tasks", "params": result}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got  %v\nwant %v", got, want)
		}
	}
}
