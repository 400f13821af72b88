package inquiry

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"berth/internal/jsonobject"
	"berth/internal/jsonobject/jsontest"
	"berth/internal/mcp"
)

// inputs is n members of an object, without its braces.
func inputs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":{}`, i)
	}
	return strings.TrimPrefix(b.String(), ",")
}

func TestInputRequiredReadsWhatIsAsked(t *testing.T) {
	for name, tc := range map[string]struct {
		result string
		asks   []Input
		state  string
	}{
		"both": {
			`{"resultType":"input_required","inputRequests":{ "b":{"method": "roots/list"} ,"\u0061":{}},"requestState":"\u0041"}`,
			[]Input{{"b", []byte(`{"method": "roots/list"}`)}, {"a", []byte(`{}`)}}, `"\u0041"`,
		},
		"requests only":        {`{"inputRequests":{"":{}}}`, []Input{{"", []byte(`{}`)}}, ""},
		"a state only":         {`{"requestState":""}`, nil, `""`},
		"no request, but said": {`{"inputRequests":{}}`, []Input{}, ""},
		"null for none":        {`{"inputRequests":null,"requestState":"s"}`, nil, `"s"`},
		"null for no state":    {`{"inputRequests":{"a":{}},"requestState":null}`, []Input{{"a", []byte(`{}`)}}, ""},
		"elsewhere":            {`{"_meta":{"inputRequests":{},"requestState":"no"},"requestState":"s"}`, nil, `"s"`},
	} {
		t.Run(name, func(t *testing.T) {
			asks, state, err := Required([]byte(tc.result))
			if err != nil || !reflect.DeepEqual(asks, tc.asks) || string(state) != tc.state || (state == nil) != (tc.state == "") {
				t.Errorf("got %q, %s, %v", asks, state, err)
			}
		})
	}
	if asks, _, err := Required([]byte(`{"inputRequests":{` + inputs(MaxInputs) + `}}`)); err != nil || len(asks) != MaxInputs {
		t.Errorf("of %d requests, %d were read: %v", MaxInputs, len(asks), err)
	}
}

func TestInputRequiredRefuses(t *testing.T) {
	for name, result := range map[string]string{
		"neither":                   `{"resultType":"input_required"}`,
		"two nulls":                 `{"inputRequests":null,"requestState":null}`,
		"a list":                    `{"inputRequests":[]}`,
		"a text":                    `{"inputRequests":"{}"}`,
		"a request that is none":    `{"inputRequests":{"a":{},"b":"x"}}`,
		"a state that is an object": `{"inputRequests":{},"requestState":{}}`,
		"a key twice":               `{"inputRequests":{"a":{},"b":{},"\u0061":{}}}`,
		"requests twice":            `{"inputRequests":{"a":{}},"inputRequests":{"a":{}}}`,
		"a state twice":             `{"requestState":"s","requestState":"s"}`,
		"a state in another case":   `{"requestState":"s","requeststate":"t"}`,
		"a key that is no text":     `{"inputRequests":{"\ud800":{}}}`,
		"too many":                  `{"inputRequests":{` + inputs(MaxInputs+1) + `}}`,
		"far too many":              `{"inputRequests":{` + inputs(2*jsonobject.MaxMembers) + `}}`,
		"no object":                 `"x"`,
		"nothing":                   ``,
		"no end":                    `{"requestState":"s"`,
	} {
		t.Run(name, func(t *testing.T) {
			if asks, state, err := Required([]byte(result)); err == nil || asks != nil || state != nil {
				t.Errorf("got %.200q, %s, %v", asks, state, err)
			}
		})
	}
}

// FuzzRequired: what is taken is what encoding/json reads, and is written back as it
// was read.
func FuzzRequired(f *testing.F) {
	f.Add([]byte(`{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"b":{}},"requestState":"s"}`))
	f.Add([]byte(`{"inputRequests":{"\u0061":{"a":1e400}},"requestState":null}`))
	f.Add([]byte(`{"requestState":"\ud800"}`))
	f.Add([]byte(`{"inputRequests":{"\ud800":{},"` + "\xff" + `":{}}}`))
	f.Add([]byte(`{"inputRequests":{"a":{},"a":[]}}`))
	f.Fuzz(func(t *testing.T, result []byte) {
		asks, state, err := Required(result)
		if err != nil {
			return
		}
		want := jsontest.Decode(t, result).(map[string]any)
		requests, _ := want["inputRequests"].(map[string]any)
		if len(asks) != len(requests) || len(asks) > MaxInputs {
			t.Fatalf("%d of %d requests read", len(asks), len(requests))
		}
		if requests != nil && utf8.Valid(result) {
			jsontest.Same(t, appendInputs(nil, asks), requests)
		}
		if state == nil {
			state = []byte("null")
		}
		jsontest.Same(t, state, want["requestState"])
	})
}

func update(params string) []byte { return []byte(request(mcp.MethodUpdateTask, params)) }

func TestInputResponsesAreReadInOrder(t *testing.T) {
	got, err := Responses(update(`"taskId":"t","_meta":{"inputResponses":{}},"inputResponses":{"b": {"x": 1} ,"a":7}`))
	want := []Input{{"b", []byte(`{"x": 1}`)}, {"a", []byte(`7`)}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, %v", got, err)
	}
	got, err = Responses(update(`"inputResponses":{` + inputs(MaxInputs) + `}`))
	if err != nil || len(got) != MaxInputs {
		t.Errorf("of %d responses, %d were read: %v", MaxInputs, len(got), err)
	}
	if got, err = Responses(update(`"inputResponses":{}`)); err != nil || len(got) != 0 {
		t.Errorf("of none: got %q, %v", got, err)
	}
}

func TestInputResponsesRefusesInTheWordsOfAnError(t *testing.T) {
	for params, want := range map[string]mcp.Error{
		`"taskId":"t"`:          {Status: 200, Code: mcp.CodeInvalidParams},
		`"inputResponses":null`: {Status: 200, Code: mcp.CodeInvalidParams},
		`"inputResponses":[]`:   {Status: 200, Code: mcp.CodeInvalidParams},
		`"inputResponses":{` + inputs(MaxInputs+1) + `}`:         {Status: 200, Code: mcp.CodeInvalidParams},
		`"inputResponses":{"a":1,"\u0061":2}`:                    {Status: 400, Code: mcp.CodeInvalidRequest, Reason: jsonobject.ReasonDuplicateKey},
		`"inputResponses":{},"InputResponses":{}`:                {Status: 400, Code: mcp.CodeInvalidRequest, Reason: jsonobject.ReasonKeyCase},
		`"inputResponses":{"a":1},"inputRespon\u0073es":{"a":2}`: {Status: 400, Code: mcp.CodeInvalidRequest, Reason: jsonobject.ReasonDuplicateKey},
	} {
		got, err := Responses(update(params))
		var refused *mcp.Error
		if !errors.As(err, &refused) || got != nil {
			t.Errorf("%.100s: got %q, %v", params, got, err)
			continue
		}
		if refused.Status != want.Status || refused.Code != want.Code || refused.Reason != want.Reason {
			t.Errorf("%.100s: got %+v, want %+v", params, refused, want)
		}
		if want.Code == mcp.CodeInvalidParams && !strings.HasPrefix(refused.Message, "Invalid params: ") {
			t.Errorf("%.100s: worded %q", params, refused.Message)
		}
	}
	if _, err := Responses([]byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/update"}`)); err == nil {
		t.Error("no params at all were taken")
	}
}

func TestInputsAreWrittenAsOneObject(t *testing.T) {
	for want, in := range map[string][]Input{
		`{}`:                           nil,
		`{"a":1}`:                      {{"a", []byte("1")}},
		"{\"\\\"\u2028\":{},\"\":[ ]}": {{"\"\u2028", []byte("{}")}, {"", []byte("[ ]")}},
	} {
		if got := appendInputs(nil, in); string(got) != want || !json.Valid(got) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestResponsesAreObjects(t *testing.T) {
	unknown := []byte(`{"method":"x/ask"}`)
	if err := (Input{"k", []byte(`{}`)}).CheckResponse(unknown); err != nil {
		t.Error(err)
	}
	for _, value := range []string{`null`, `"{}"`, `7`, `[{}]`, `true`} {
		var refused *mcp.Error
		if err := (Input{"k", []byte(value)}).CheckResponse(unknown); !errors.As(err, &refused) || refused.Code != mcp.CodeInvalidParams {
			t.Errorf("%s: got %v", value, err)
		}
	}
}

// request is a message with the given members of params.
func request(method, params string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{` + params + `}}`
}
