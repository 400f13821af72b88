package inquiry

import (
	"testing"

	"berth/internal/jsonobject"
)

func TestWhatIsAskedIsClear(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]bool{
		`{"method":"roots/list"}`:                                                                       true,
		"{\"method\":\"roots/list\",\"params\":{\"x\":\"\xff\"}}":                                       false,
		`{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}`:                 true,
		`{"method":"elicitation/create","params":{"mode":"form","message":"m","requestedSchema":{}}}`:   true,
		`{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u"}}`:               true,
		`{"method":"elicitation/create","params":{"mode":"url","message":"m"}}`:                         false,
		`{"method":"elicitation/create","params":{"mode":"future","message":"m","requestedSchema":{}}}`: false,
		`{"method":"elicitation/create","params":{"mode":null,"message":"m","requestedSchema":{}}}`:     true,
		`{"method":"elicitation/create","params":{"message":"m"}}`:                                      true,
		`{"method":"elicitation/create","params":{"nothing":1}}`:                                        false,
		"{\"method\":\"elicitation/create\",\"params\":{\"message\":\"\xff\",\"requestedSchema\":{}}}":  false,
		`{"method":"elicitation/create"}`:                                                               false,
		`{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`:                    true,
		`{"method":"sampling/createMessage","params":{"maxTokens":1}}`:                                  false,
	} {
		if got := IsClear([]byte(request)); got != want {
			t.Errorf("%s: got %v", request, got)
		}
	}
}

// Servers that want no more than a yes leave the schema out, which the modern era demands.
func TestAnElicitationHasASchema(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		`{"method":"elicitation/create","params":{"message":"m"}}`:                                               `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`,
		`{"method":"elicitation/create","params":{"mode":null,"message":"m","requestedSchema":null,"_meta":{}}}`: `{"message":"m","requestedSchema":{"type":"object","properties":{}}}`,
		`{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u"}}`:                        `{"mode":"url","message":"m","url":"u"}`,
		`{"method":"sampling/createMessage","params":{"messages":[]}}`:                                           `{"messages":[]}`,
	} {
		if got := string(jsonobject.At(InputRequest([]byte(request)), "params")); got != want {
			t.Errorf("%s: got %s, want %s", request, got, want)
		}
	}
}

func TestWhatIsAnAnswer(t *testing.T) {
	t.Parallel()
	const form, sample, roots = `{"method":"elicitation/create"}`, `{"method":"sampling/createMessage"}`, `{"method":"roots/list"}`
	for _, tc := range []struct {
		request, value string
		want           bool
	}{
		{form, `{"action":"accept","content":{}}`, true},
		{form, `{"action":"cancel"}`, true},
		{form, `{"action":"maybe"}`, false},
		{form, `{}`, false},
		{form, `{"jsonrpc":"2.0","id":1,"result":{"action":"accept"}}`, false},
		{form, `null`, false},
		{form, `["accept"]`, false},
		{sample, `{"role":"assistant","content":{}}`, true},
		{sample, `{"action":"accept"}`, false},
		{roots, `{"roots":[]}`, true},
		{roots, `{"roots":"x"}`, false},
	} {
		if err := (Input{"k", []byte(tc.value)}).CheckResponse([]byte(tc.request)); (err == nil) != tc.want {
			t.Errorf("%s to %s: got %v", tc.value, tc.request, err)
		}
	}
}

func TestARoundIsWordedAsOneResult(t *testing.T) {
	got := string(Result([]Input{{`a"`, []byte(`{"method":"roots/list"}`)}, {"b", []byte(`{}`)}}, `s"`))
	if want := `{"resultType":"input_required","inputRequests":{"a\"":{"method":"roots/list"},"b":{}},"requestState":"s\""}`; got != want {
		t.Errorf("got %s", got)
	}
}

// Some clients demand params where the schema does not.
func TestInputRequestIsMethodAndParams(t *testing.T) {
	for request, want := range map[string]string{
		`{"jsonrpc":"2.0","id":0,"method":"elicitation/create","params":{"message":"m","_meta":{"progressToken":1},"requestedSchema":{}, "x":1.0}}`: `{"method":"elicitation/create","params":{"message":"m","requestedSchema":{}, "x":1.0}}`,
		`{"id":0,"method":"roots/list"}`:               `{"method":"roots/list","params":{}}`,
		`{"id":0,"method":"roots/list","params":null}`: `{"method":"roots/list","params":{}}`,
	} {
		if got := string(InputRequest([]byte(request))); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestIsElicitation(t *testing.T) {
	for request, want := range map[string]bool{`{"method":"elicitation/create"}`: true, `{"method":"sampling/createMessage"}`: false, `{"params":{"method":"elicitation/create"}}`: false} {
		if IsElicitation([]byte(request)) != want {
			t.Errorf("%s: not %v", request, want)
		}
	}
}

// What is no elicitation among those that are required is passed over, wherever it stands.
func TestRequiredElicitationsArePicked(t *testing.T) {
	const clear = `{"mode":"url","elicitationId":"e","url":"https://example.com/","message":"connect"}`
	for list, want := range map[string]int{
		`[]`: 0, `[1]`: 0, `[null,` + clear + `]`: 1, `["x",[` + clear + `],{},` + clear + `,2,` + clear + `]`: 2,
	} {
		if got := RequiredElicitations([]byte(`{"jsonrpc":"2.0","id":1,"error":{"code":-32042,"message":"m","data":{"elicitations":` + list + `}}}`)); len(got) != want {
			t.Errorf("%s: got %q", list, got)
		}
	}
}
