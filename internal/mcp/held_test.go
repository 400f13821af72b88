package mcp

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"berth/internal/jsonobject/jsontest"
)

const declared = `"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}`

func TestRoundChangesOnlyWhatABerthSays(t *testing.T) {
	const answers, lastAnswer = `{"a\"b":{"action": "accept"},"é":{}}`, `{"é":{}}`
	for name, tc := range map[string]struct {
		r          Round
		body, want string
	}{
		"the first round": {
			Round{ID: []byte(`"r1"`), ProgressToken: "p"},
			` {"jsonrpc":"2.0", "id" : 7 ,"method":"tools/call","params":{"name":"x", "arguments":{ "n":1.0 }, "_meta":{"progressToken" : 3, ` + declared + `, "a":1}, "requestState":"s"}} `,
			` {"jsonrpc":"2.0", "id" : "r1" ,"method":"tools/call","params":{"name":"x", "arguments":{ "n":1.0 }, "_meta":{"progressToken" : "p", "io.modelcontextprotocol/clientCapabilities":{"extensions":{}}, "a":1}, "requestState":"s"}} `,
		},
		"the id stays": {
			Round{ProgressToken: "p"},
			`{"id":1e2,"params":{"_meta":{}}}`,
			`{"id":1e2,"params":{"_meta":{"progressToken":"p"}}}`,
		},
		"no params": {
			Round{ID: []byte("2"), ProgressToken: `"`},
			`{"id":1,"method":"x"}`,
			`{"id":2,"method":"x","params":{"_meta":{"progressToken":"\""}}}`,
		},
		"no progress asked for": {
			Round{},
			`{"id":1,"params":{"_meta":{"progressToken":3}}}`,
			`{"id":1,"params":{"_meta":{}}}`,
		},
		"without the task that was asked for": {
			Round{ID: []byte("2"), ProgressToken: "p", WithoutTask: true},
			`{"id":1,"params":{ "task" : {"ttl":60000}, "name":"x","arguments":{"task":{"ttl":1}}, "_meta":{"progressToken":3} }}`,
			`{"id":2,"params":{ "name":"x","arguments":{"task":{"ttl":1}}, "_meta":{"progressToken":"p"} }}`,
		},
		"the task stays": {
			Round{},
			`{"id":1,"params":{"task":{},"name":"x"}}`,
			`{"id":1,"params":{"task":{},"name":"x"}}`,
		},
		"nothing asked for, nothing made": {Round{}, `{"id":1,"method":"x"}`, `{"id":1,"method":"x"}`},
		"other extensions stay": {
			Round{},
			`{"id":1,"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{ "extensions":{"a":1, "io.modelcontextprotocol/tasks":{"x":1}, "b":2},"elicitation":{}}}}}`,
			`{"id":1,"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{ "extensions":{"a":1, "b":2},"elicitation":{}}}}}`,
		},
		"another's declaration stays": {
			Round{},
			`{"id":1,"params":{"arguments":{"_meta":{` + declared + `},"inputResponses":1}}}`,
			`{"id":1,"params":{"arguments":{"_meta":{` + declared + `},"inputResponses":1}}}`,
		},
		"answers": {
			Round{Answered: true, Responses: []byte(answers), State: []byte(`"\u0041"`)},
			`{"id":1,"params":{"name":"x"}}`,
			`{"id":1,"params":{"name":"x","inputResponses":{"a\"b":{"action": "accept"},"é":{}},"requestState":"\u0041"}}`,
		},
		"answers in the place of the client's": {
			Round{Answered: true, Responses: []byte(lastAnswer), State: []byte(`"t"`)},
			`{"id":1,"params":{"inputResponses" : {"old":{}}, "requestState": "s" , "name":"x"}}`,
			`{"id":1,"params":{"inputResponses" : {"é":{}}, "requestState": "t" , "name":"x"}}`,
		},
		"a state and no answers": {
			Round{Answered: true, State: []byte(`"t"`)},
			`{"id":1,"params":{"name":"x","inputResponses":{"old":{}},"requestState":"s"}}`,
			`{"id":1,"params":{"name":"x","requestState":"t"}}`,
		},
		"answers and no state": {
			Round{Answered: true, Responses: []byte(lastAnswer)},
			`{"id":1,"params":{"requestState":"s","name":"x"}}`,
			`{"id":1,"params":{"name":"x","inputResponses":{"é":{}}}}`,
		},
		"neither": {
			Round{Answered: true},
			`{"id":1,"params":{"inputResponses":{},"requestState":"s"}}`,
			`{"id":1,"params":{}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.r.Body([]byte(tc.body))
			if err != nil || string(got) != tc.want {
				t.Errorf("got  %s (%v)\nwant %s", got, err, tc.want)
			}
		})
	}
}

func TestRoundRefusesInTheWordsOfAnError(t *testing.T) {
	for body, code := range map[string]int{
		`{"id":1,"params":[]}`:                                              CodeInvalidParams,
		`{"id":1,"params":{"_meta":"x"}}`:                                   CodeInvalidParams,
		`{"id":1,"params":{"_meta":{"progressToken":1,"ProgressToken":2}}}`: CodeInvalidRequest,
		`{"id":1,"params":{"requestState":"s","RequestState":"t"}}`:         CodeInvalidRequest,
		`{"id":1,"params":{"inputresponses":{}}}`:                           CodeInvalidRequest,
		`{"id":1,"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{},"Extensions":{}}}}}`: CodeInvalidRequest,
		`{"id":1,"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{"a":1,"a":2}}}}}`:      CodeInvalidRequest,
		`{"id":1,"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":{}}},"_meta":{}}}`:      CodeInvalidRequest,
		`{"id":1`: CodeParse,
	} {
		got, err := Round{ID: []byte("2"), ProgressToken: "p", Answered: true}.Body([]byte(body))
		var refused *Error
		if !errors.As(err, &refused) || refused.Code != code {
			t.Errorf("%s: got %s, %v, want %d", body, got, err, code)
		}
	}
}

// A held call must not be answered with a task: that is what Peek would say of it.
func TestHeldCallIsReadBackAsAPlainOne(t *testing.T) {
	original := request("tools/call", `"name":"x","requestState":"s","_meta":{"`+MetaVersion+`":"2026-07-28",`+declared+`}`)
	if !call(t, original).DeclaresTasks {
		t.Fatal("the original declares nothing")
	}
	body, err := Round{ID: []byte(`"r"`), ProgressToken: "p", Answered: true, State: []byte(`"t"`)}.Body([]byte(original))
	if err != nil {
		t.Fatal(err)
	}
	c := call(t, string(body))
	if c.DeclaresTasks || c.Name != "x" || c.RequestState != "t" || string(c.ID) != `"r"` || string(ProgressToken(body)) != `"p"` {
		t.Errorf("got %+v of %s", c, body)
	}
}

// rounded is what a round makes of a request, done to what encoding/json reads.
func rounded(r Round, request map[string]any) {
	if r.ID != nil {
		request["id"] = json.Number(r.ID)
	}
	params, _ := request["params"].(map[string]any)
	if params == nil {
		if params = map[string]any{}; r.ProgressToken != "" || r.Responses != nil || r.Answered && r.State != nil {
			request["params"] = params
		}
	}
	meta, _ := params["_meta"].(map[string]any)
	if meta == nil {
		if meta = map[string]any{}; r.ProgressToken != "" {
			params["_meta"] = meta
		}
	}
	delete(meta, "progressToken")
	if r.ProgressToken != "" {
		meta["progressToken"] = r.ProgressToken
	}
	caps, _ := meta["io.modelcontextprotocol/clientCapabilities"].(map[string]any)
	extensions, _ := caps["extensions"].(map[string]any)
	delete(extensions, "io.modelcontextprotocol/tasks")
	if !r.Answered {
		return
	}
	delete(params, "inputResponses")
	delete(params, "requestState")
	if r.Responses != nil {
		params["inputResponses"] = map[string]any{"k": "v", "": "w"}
	}
	if r.State != nil {
		params["requestState"] = string(r.State[1 : len(r.State)-1])
	}
}

// FuzzRoundBody: an independent reader finds what the round says and all the rest as it
// was, and a second time changes nothing.
func FuzzRoundBody(f *testing.F) {
	f.Add([]byte(request("tools/call", `"name":"x","_meta":{"progressToken":1,`+declared+`}`)), "p", uint8(7))
	f.Add([]byte(request("tools/call", `"requestState":"s","inputResponses":{"a":{}},"name":"x"`)), "", uint8(6))
	f.Add([]byte(request("tools/call", `"requestState":"s" , "inputResponses":{"a":{}}`)), "é\"", uint8(2))
	f.Add([]byte(`{"id":1}`), "p", uint8(15))
	f.Add([]byte(`{"id":1,"params":null}`), "", uint8(0))
	f.Add([]byte(`{"params":{"_meta":null},"\u0069d":[1]}`), "p", uint8(1))
	f.Add([]byte(`{"params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"extensions":[1]}}}}`), "p", uint8(1))
	f.Fuzz(func(t *testing.T, body []byte, token string, mode uint8) {
		if !utf8.Valid(body) || !utf8.ValidString(token) {
			return
		}
		r := Round{ProgressToken: token, Answered: mode&2 != 0}
		if mode&1 != 0 {
			r.ID = []byte("42")
		}
		if r.Answered && mode&4 != 0 {
			r.Responses = []byte(`{"k":"v","":"w"}`)
		}
		if r.Answered && mode&8 != 0 {
			r.State = []byte(`"s"`)
		}
		got, err := r.Body(body)
		if err != nil {
			return
		}
		want, ok := jsontest.Decode(t, body).(map[string]any)
		if !ok {
			t.Fatalf("took %q", body)
		}
		rounded(r, want)
		jsontest.Same(t, got, want)
		if again, err := r.Body(got); err != nil || string(again) != string(got) {
			t.Errorf("%s\nbecame %s (%v)\nthe second time", got, again, err)
		}
	})
}

func TestRoundCopiesALargeCallOnce(t *testing.T) {
	half := strings.Repeat("x", 1<<20)
	original := []byte(request("tools/call", `"arguments":{"data":"`+half+`"},"_meta":{"progressToken":1},"more":"`+half+`"`))
	got := jsontest.Allocated(func() { _, _ = Round{ID: []byte("2"), ProgressToken: "p"}.Body(original) })
	if got > uint64(len(original))*3/2 {
		t.Errorf("%d bytes allocated for a call of %d", got, len(original))
	}
}

// What is declared after all is all that a round gains; the legacy era declares nothing in a request.
func TestARoundDeclaresTheExtensionAfterAll(t *testing.T) {
	const with = `"extensions":{"io.modelcontextprotocol/tasks":{}}`
	capable := func(members string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x", "_meta":{"a":1,"io.modelcontextprotocol/clientCapabilities":{` + members + `}}}}`
	}
	for name, c := range map[string]struct{ body, want string }{
		"no extensions": {capable(`"roots": {}`), capable(`"roots": {},` + with)},
		"none left":     {capable(`"extensions":{}`), capable(with)},
		"declared":      {capable(with), ""},
		"legacy":        {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x"}}`, ""},
		"no object":     {capable(`"extensions":1`), ""},
	} {
		if got := string(DeclareTasks([]byte(c.body))); got != c.want {
			t.Errorf("%s: got %s, want %s", name, got, c.want)
		}
	}
}
