package admin

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
)

type greeting struct {
	Name string `json:"name"`
}

var greet = Route{Pattern: "POST /v1/greetings/{name}", Serve: func(_ context.Context, r *http.Request) (any, error) {
	if name := r.PathValue("name"); name != "nobody" {
		return greeting{name}, nil
	}
	return nil, NotFound("nobody is not here")
}}

func TestClientIsAnsweredByARoute(t *testing.T) {
	for name, listen := range map[string]string{"tcp": "127.0.0.1:0", "unix": "unix:" + filepath.Join(t.TempDir(), "s")} {
		t.Run(name, func(t *testing.T) {
			s, _ := run(t, Options{Listen: listen, Routes: []Route{greet}, Token: canary})
			address := s.Addr().String()
			if s.Addr().Network() == "unix" {
				address = "unix:" + address
			}
			var got greeting
			if err := NewClient(address, canary).Call(t.Context(), "POST", "/v1/greetings/you", nil, &got); err != nil || got.Name != "you" {
				t.Errorf("got %v, %v, want you", got, err)
			}
			err := NewClient(address, canary).Call(t.Context(), "POST", "/v1/greetings/nobody", nil, &got)
			if fault, ok := errors.AsType[*Fault](err); !ok || fault.Status != 404 || fault.Code != "not_found" || fault.Message != "nobody is not here" {
				t.Errorf("a fault: got %v", err)
			}
			err = NewClient(address, "another").Call(t.Context(), "POST", "/v1/greetings/you", nil, &got)
			if fault, ok := errors.AsType[*Fault](err); !ok || fault.Code != "unauthorized" {
				t.Errorf("without the token: got %v", err)
			}
			if err := NewClient(address, canary).Call(t.Context(), "GET", "/v1/nothing", nil, nil); !errors.Is(err, ErrNoBerth) {
				t.Errorf("a path of another version: got %v, want ErrNoBerth", err)
			}
		})
	}
}

func TestNobodyListening(t *testing.T) {
	err := NewClient("unix:"+filepath.Join(t.TempDir(), "none"), "").Call(t.Context(), "GET", "/v1/x", nil, nil)
	if !errors.Is(err, ErrNoBerth) {
		t.Errorf("got %v, want ErrNoBerth", err)
	}
}

// A page in an operator's browser can reach loopback, and send what forms can.
func TestPagesGiveNoOrders(t *testing.T) {
	_, url := run(t, Options{Routes: []Route{greet}})
	for name, header := range map[string]http.Header{
		"a form":                      {"Content-Type": {"text/plain"}},
		"a page of another origin":    {"Content-Type": {"application/json"}, "Origin": {"https://evil.example"}},
		"a browser that says whence":  {"Content-Type": {"application/json"}, "Sec-Fetch-Site": {"cross-site"}},
		"a form without content type": {},
	} {
		request, _ := http.NewRequestWithContext(t.Context(), "POST", url+"/v1/greetings/you", strings.NewReader("{}"))
		request.Header = header
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode/100 != 4 || !strings.Contains(string(body), `{"error":`) {
			t.Errorf("%s: got %d %s", name, response.StatusCode, body)
		}
	}
}

// Who asks for less than everything must not be told everything, for a slip of the pen.
func TestParametersThatNobodyReadsAreRefused(t *testing.T) {
	mux := http.NewServeMux()
	commands(mux, []Route{{Pattern: "GET /v1/things", Query: []string{"pool"}, Serve: func(context.Context, *http.Request) (any, error) { return struct{}{}, nil }}})
	for query, want := range map[string]int{
		"": http.StatusOK, "?pool=a": http.StatusOK, "?pol=a": http.StatusBadRequest, "?pool=a&pool=b": http.StatusBadRequest, "?pool=%zz": http.StatusBadRequest,
	} {
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/v1/things"+query, nil))
		if w.Code != want {
			t.Errorf("%s: got %d %s, want %d", query, w.Code, w.Body, want)
		}
	}
}
