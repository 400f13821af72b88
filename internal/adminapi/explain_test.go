package adminapi

import (
	"net/http/httptest"
	"strings"
	"testing"

	"berth/internal/api"
	"berth/internal/h1/h1test"
	"berth/internal/seal"
	"berth/internal/storage/storagetest"
	"berth/proxy"
	"berth/routing"
	"berth/routing/claim"
	"berth/sticky"
)

// explainer explains, over two pools of one upstream each, which nobody listens at.
func explainer(t *testing.T) *explanations {
	t.Helper()
	store := storagetest.OpenMemory(t)
	client := h1test.NewSender(nil, 0)
	t.Cleanup(client.Close)
	bindings := sticky.New(store, sticky.Options{})
	o := proxy.Options{Keys: seal.NewStoredKeyring(store), Decisions: new(proxy.Decisions)}
	for _, name := range []string{"p", "q"} {
		pool := routing.NewPool(routing.PoolOptions{Name: name, Upstreams: []*routing.Upstream{{Name: name + "-1"}}})
		t.Cleanup(pool.Close)
		o.Endpoints = append(o.Endpoints, &proxy.Endpoint{Path: "/" + name, Client: client, Router: &routing.Router{Pool: pool, Guard: claim.Guard{Bindings: bindings}, Asker: routing.NewAsker(pool)}})
	}
	key := o.Endpoints[1].Router.TaskKey("", "t-1")
	if err := bindings.Bind(t.Context(), key, sticky.Binding{Upstream: "q-1", Dialect: "extension"}, 0); err != nil {
		t.Fatal(err)
	}
	p := proxy.New(o)
	return &explanations{proxy: func() *proxy.Proxy { return p }, decisions: o.Decisions, outages: outages{store}}
}

func TestAnIDIsFoundInWhicheverPool(t *testing.T) {
	a := explainer(t)
	for query, want := range map[string]string{
		"id=t-1": "q q-1", "id=t-1&pool=q": "q q-1", "id=t-1&pool=p": "p ",
		"id=x": "no pool knows", "id=x&pool=r": "no pool r", "": "name a task",
	} {
		told, err := a.serveExplainID(t.Context(), httptest.NewRequest("GET", "/v1/explain?"+query, nil))
		if e, ok := told.(api.Explanation); ok && err == nil {
			if got := e.Pool + " " + e.Owner; got != want {
				t.Errorf("%s: got %q, want %q", query, got, want)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want %q", query, told, err, want)
		}
	}
}

// An id that nobody can look for is not told to be unknown.
func TestWithTheStoreAwayNoIDIsUnknown(t *testing.T) {
	a := explainer(t)
	_ = a.outages.store.Close()
	for query, want := range map[string]string{"id=x": "the store (memory:) has not answered", "id=x&pool=r": "no pool r"} {
		if told, err := a.serveExplainID(t.Context(), httptest.NewRequest("GET", "/v1/explain?"+query, nil)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, %v, want %q", query, told, err, want)
		}
	}
	told, err := a.serveExplainID(t.Context(), httptest.NewRequest("GET", "/v1/explain?id=x&pool=p", nil))
	if e, ok := told.(api.Explanation); !ok || err != nil || e.Pool != "p" {
		t.Errorf("in a pool: got %v, %v", told, err)
	}
}

// A message alone has the headers that its client would send; headers that are there count.
func TestAMessageIsExplainedWithItsHeaders(t *testing.T) {
	a := explainer(t)
	const body = `{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"x\",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\"}}}`
	for question, want := range map[string]string{
		`{"body":"` + body + `"}`:            "p forward upstream: p-1",
		`{"pool":"q","body":"` + body + `"}`: "q forward upstream: q-1",
		`{"body":"` + body + `","headers":{"Mcp-Protocol-Version":"2026-07-28","Mcp-Name":"y"}}`: "p refuse Header mismatch: Mcp-Name is not the name in the body",
		`{"path":"/nowhere"}`: " refuse no MCP endpoint here",
		`{"pool":"r"}`:        "there is no pool r",
		`{"path":"%"}`:        "path: it is no path of a URL",
		`[`:                   "not the JSON object",
	} {
		told, err := a.serveExplain(t.Context(), httptest.NewRequest("POST", "/v1/explain", strings.NewReader(question)))
		if e, ok := told.(api.Explanation); ok && err == nil {
			if got := e.Pool + " " + e.Answer.Action + " " + e.Answer.Detail; got != want {
				t.Errorf("%s: got %q, want %q", question, got, want)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", question, err, want)
		}
	}
}
