package mcp

import (
	"berth/internal/recall"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// formBodies are requests whose form is kept, in the orders that clients write them in.
func formBodies() []string {
	const capable = `"` + MetaVersion + `":"2026-07-28","` + MetaCapabilities + `":{"extensions":{"` + TasksExtension + `":{}}}`
	return []string{
		string(usualPoll),
		`{"jsonrpc":"2.0","id":"a","method":"tasks/get","params":{"taskId":"t","_meta":{` + capable + `}}}`,
		`{"method":"tools/call","params":{"name":"n","arguments":{"x":[1]},"_meta":{"progressToken":7}},"jsonrpc":"2.0","id":7}`,
		` {"id" : 1,"params":{"_meta":{"progressToken":"p",` + capable + `},"arguments":{} },"method":"tools/call","jsonrpc":"2.0"} `,
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`,
	}
}

// What differs between requests of one form is read of each.
func TestWhatAFormLeavesOpenIsReadOfEachRequest(t *testing.T) {
	forgetClients()
	for i := range 3 {
		task, id := fmt.Sprintf(`"task-%d"`, i), fmt.Sprint(i)
		m, gotID, refused := peeked([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"tasks/get","params":{"taskId":` + task + `,"_meta":{"progressToken":` + id + `}}}`))
		if refused != nil || string(gotID) != id || string(m.Calls[0].raw.taskID) != task || string(m.Calls[0].ProgressToken) != id {
			t.Errorf("got %s, %+v, %v", gotID, m.Calls[0], refused)
		}
		if kept := keptIn(&callForms); len(kept) != 1 || strings.Contains(fmt.Sprintf("%+v", kept), "task-") {
			t.Fatalf("kept %+v", kept)
		}
	}
}

// An argument may be nested as deeply as it may where the form is not known.
func TestAKnownFormBoundsDepthAlike(t *testing.T) {
	nested := func(depth int) []byte {
		return []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"n","arguments":` +
			strings.Repeat("[", depth) + strings.Repeat("]", depth) + `}}`)
	}
	for _, depth := range []int{9_997, 9_998, 9_999, 10_000} {
		forgetClients()
		_, _, want := peeked(nested(depth))
		forgetClients()
		_, _, _ = peeked(nested(1))
		if _, _, got := peeked(nested(depth)); !reflect.DeepEqual(got, want) {
			t.Errorf("%d deep: got %v, want %v", depth, got, want)
		}
	}
}

// What is kept of a request is nothing that may be of one alone, and not large.
func TestOnlyWhatMostRequestsHaveIsKept(t *testing.T) {
	const before, after = `{"jsonrpc":"2.0","id":1,"method":"tools/call",`, `}`
	for name, rest := range map[string]string{
		"an unknown member":      `"x":1,"params":{}`,
		"an unknown parameter":   `"params":{"x":1}`,
		"an unknown part":        `"params":{"_meta":{"x":1}}`,
		"a trace":                `"params":{"_meta":{"traceparent":"00-1"}}`,
		"a cursor":               `"params":{"cursor":"c"}`,
		"a state":                `"params":{"requestState":"s"}`,
		"a URI":                  `"params":{"uri":"u"}`,
		"a task of its own":      `"params":{"task":{}}`,
		"no object":              `"params":1`,
		"beyond ASCII":           `"params":{"_meta":{"` + MetaClientInfo + `":{"name":"é"}}}`,
		"the same, before more":  `"params":{"_meta":{"` + MetaClientInfo + `":{"name":"é"}},"arguments":{}}`,
		"a name in two readings": `"params":{"name":"n","Name":"n"}`,
		"large":                  `"params":{"_meta":{"` + MetaClientInfo + `":"` + strings.Repeat("x", recall.MaxForm) + `"}}`,
	} {
		forgetClients()
		_, _, _ = peeked([]byte(before + rest + after))
		if kept := keptIn(&callForms); len(kept) > 0 {
			t.Errorf("%s: kept %+v", name, kept)
		}
	}
}

// Clients that write alike requests differently are all known, up to a bound.
func TestFormsOfOneMethodStandBesideEachOther(t *testing.T) {
	forgetClients()
	for range 2 {
		for name := range len(recall.Alike[callForm]{}) {
			_, _, _ = peeked(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"%s":{"name":"%d"}}}}`, MetaClientInfo, name))
		}
	}
	if kept := keptIn(&callForms); len(kept) != len(recall.Alike[callForm]{}) {
		t.Errorf("kept %d, want %d", len(kept), len(recall.Alike[callForm]{}))
	}
}

// A request whose form is known costs no memory.
func TestAKnownFormCostsNoMemory(t *testing.T) {
	forgetClients()
	var m Message
	if n := testing.AllocsPerRun(100, func() { _, _ = m.Peek(usualPoll, testBatch) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
