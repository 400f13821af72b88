package client

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func response(status int, media, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(strings.NewReader(body)),
	}
}

const (
	jsonType  = "application/json; charset=utf-8"
	eventType = "text/event-stream"
)

func TestAnswersAreRead(t *testing.T) {
	cases := map[string]struct {
		response *http.Response
		id       int
		result   string // "" is none
		code     int    // of the error; 0 is none
		accepted bool
	}{
		"result":           {response(200, jsonType, `{"id":1,"result":{"a":1}}`), 1, `{"a":1}`, 0, true},
		"byte order mark":  {response(200, jsonType, "\ufeff"+`{"id":1,"result":{}}`), 1, `{}`, 0, true},
		"event":            {response(200, eventType, "id: 1\ndata:\n\n: x\n\ndata: {\"method\":\"m\"}\n\ndata: {\"id\":1,\ndata: \"result\":{}}\n\n"), 1, `{}`, 0, true},
		"last event":       {response(200, eventType, `data: {"id":1,"result":{}}`), 1, `{}`, 0, true},
		"error":            {response(200, jsonType, `{"id":1,"error":{"code":-32602,"message":"m"}}`), 1, "", -32602, false},
		"error in events":  {response(200, eventType, "data: {\"id\":1,\"error\":{\"code\":-32602}}\n\n"), 1, "", -32602, false},
		"error, a float":   {response(200, jsonType, `{"id":1,"error":{"code":-32602.0,"message":"m"}}`), 1, "", -32602, false},
		"error, a power":   {response(200, jsonType, `{"id":1,"error":{"code":-3.2602e4}}`), 1, "", -32602, false},
		"error and status": {response(404, jsonType, `{"error":{"code":-32001}}`), 1, "", -32001, false},
		"status":           {response(404, "text/plain", "nothing"), 1, "", 0, false},
		"redirect":         {response(307, "text/html", ""), 1, "", 0, false},
		"accepted":         {response(202, "", ""), 0, "", 0, true},
		"not accepted":     {response(400, "", ""), 0, "", 0, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := Read(c.response, c.id)
			if err != nil {
				t.Fatal(err)
			}
			code := 0
			if got.Error != nil {
				code = got.Error.Code
			}
			if string(got.Result) != c.result || code != c.code || got.Accepted() != c.accepted {
				t.Errorf("got %s, %d, %v, want %s, %d, %v", got.Result, code, got.Accepted(), c.result, c.code, c.accepted)
			}
		})
	}
}

// As much is read of an answer in events as of one in JSON.
func TestLongAnswersAreRead(t *testing.T) {
	long := `{"id":1,"result":{"tools":["` + strings.Repeat("x", MaxAnswer-1000) + `"]}}`
	for media, body := range map[string]string{jsonType: long, eventType: "data: " + long + "\n\n"} {
		if got, err := Read(response(200, media, body), 1); err != nil || len(got.Result) < MaxAnswer-1000 {
			t.Errorf("%s: got %v", media, err)
		}
	}
}

func TestUnreadableAnswers(t *testing.T) {
	cases := map[string]*http.Response{
		"page":            response(200, "text/html", "<html>"),
		"not JSON":        response(200, jsonType, "<html>"),
		"another's":       response(200, jsonType, `{"id":2,"result":{}}`),
		"another's error": response(200, jsonType, `{"id":2,"error":{"code":-32602,"message":"m"}}`),
		"status 101":      response(101, jsonType, `{"id":1,"result":{}}`),
		"status 600":      response(600, jsonType, `{"id":1,"result":{}}`),
		"a request":       response(200, jsonType, `{"id":1,"method":"ping"}`),
		"accepted only":   response(202, "", ""),
		"no event":        response(200, eventType, ""),
		"stream ends":     response(200, eventType, "data: {\"method\":\"m\"}\n\n"),
		"too long":        response(200, jsonType, `{"id":1,"result":"`+strings.Repeat("x", MaxAnswer)+`"}`),
		"long event":      response(200, eventType, `data: {"id":1,"result":"`+strings.Repeat("x", MaxAnswer)+`"}`),
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got, err := Read(c, 1); !errors.Is(err, ErrUnreadable) {
				t.Errorf("got %+v, %v, want %v", got, err, ErrUnreadable)
			}
		})
	}
}

func TestTasksOfBothDialects(t *testing.T) {
	cases := map[string]struct {
		version, result string
		want            Task
		ok              bool
	}{
		"extension":         {Modern, `{"resultType":"task","taskId":"x","status":"working","statusMessage":"1/2","ttlMs":60000,"pollIntervalMs":100}`, Task{ID: "x", Status: "working", Message: "1/2", TTL: time.Minute, PollEvery: 100 * time.Millisecond}, true},
		"core":              {Legacy, `{"task":{"taskId":"x","status":"working","ttl":60000,"pollInterval":100}}`, Task{ID: "x", Status: "working", TTL: time.Minute, PollEvery: 100 * time.Millisecond}, true},
		"unlimited":         {Legacy, `{"task":{"taskId":"x","status":"working","ttl":null}}`, Task{ID: "x", Status: "working"}, true},
		"absurd":            {Legacy, `{"task":{"taskId":"x","ttl":1e300}}`, Task{ID: "x", TTL: 1e12 * time.Millisecond}, true},
		"negative":          {Legacy, `{"task":{"taskId":"x","ttl":-1}}`, Task{ID: "x"}, true},
		"core in modern":    {Modern, `{"task":{"taskId":"x"}}`, Task{}, false},
		"no task":           {Modern, `{"resultType":"complete","taskId":"x"}`, Task{}, false},
		"without id":        {Modern, `{"resultType":"task"}`, Task{}, false},
		"an odd id":         {Legacy, `{"task":{"taskId":7}}`, Task{}, false},
		"extension, legacy": {Legacy, `{"resultType":"task","taskId":"x"}`, Task{}, false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, ok := ReadMade(c.version, []byte(c.result))
			if ok != c.ok || got.ID != c.want.ID || got.Status != c.want.Status || got.Message != c.want.Message || got.TTL != c.want.TTL || got.PollEvery != c.want.PollEvery {
				t.Errorf("got %+v, %v, want %+v, %v", got, ok, c.want, c.ok)
			}
		})
	}
}

// Whatever a server sends is an answer with a result or without, or no answer.
func FuzzRead(f *testing.F) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{"resultType":"task","taskId":"x","ttlMs":1e400}}`,
		"data: {\"id\":1,\"result\":{}}\n\n", "<html>", "", "\ufeff", "[]", `{"id":1,"error":null}`, "data: {\r\rdata: }\r\n\r\n",
	} {
		for _, status := range []int{200, 202, 404} {
			f.Add(status, jsonType, body)
			f.Add(status, eventType, body)
		}
	}
	f.Fuzz(func(t *testing.T, status int, media, body string) {
		got, err := Read(response(status, media, body), 1)
		switch {
		case (got == nil) == (err == nil):
			t.Fatalf("got %+v and %v, want one of them", got, err)
		case err != nil && !errors.Is(err, ErrUnreadable):
			t.Fatalf("got %v", err)
		case got != nil && got.Result != nil && got.Error != nil:
			t.Fatalf("got a result and an error: %+v", got)
		case got != nil && got.Result != nil:
			for _, version := range []string{Modern, Legacy} {
				if task, ok := ReadMade(version, got.Result); ok && (task.ID == "" || task.TTL < 0 || task.PollEvery < 0) {
					t.Fatalf("got %+v", task)
				}
			}
		}
	})
}

// An error whose code is no code of JSON-RPC is one all the same.
func TestErrorsWithOddCodesAreErrors(t *testing.T) {
	for _, code := range []string{"1e30", "-32602.5", `"x"`, "null", "{}"} {
		answer, err := Read(response(200, jsonType, `{"id":1,"error":{"code":`+code+`,"message":"m"}}`), 1)
		if err != nil || answer.Error == nil || answer.Error.Code != 0 || answer.Error.Message != "m" {
			t.Errorf("%s: got %+v, %v", code, answer, err)
		}
	}
}
