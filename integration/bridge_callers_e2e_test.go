//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"testing"
)

// sessionView is what the fixture's tool "session" tells of the session that it runs in.
type sessionView struct {
	Session      string                     `json:"session"`
	Capabilities map[string]json.RawMessage `json:"capabilities"`
	Client       struct{ Name string }      `json:"client"`
	Headers      map[string]string          `json:"headers"`
	Meta         map[string]json.RawMessage `json:"meta"`
	Remembered   string                     `json:"remembered"`
}

func (c *askingClient) session(t testing.TB, url string) (view sessionView) {
	t.Helper()
	got, err := askedCall{client: c, name: "session"}.send(t, url, "", nil)
	if err != nil || json.Unmarshal([]byte(got.said()), &view) != nil {
		t.Fatalf("session: got %v, %v, want a view of it", got, err)
	}
	return view
}

// What a server remembers of one caller's session no other caller gets to see.
func TestBridgedSessionsAreOfOneCaller(t *testing.T) {
	eachSite(t, func(t *testing.T, _ *legacySite, url string) { sessionsAreOfOneCaller(t, url) })
}

// Nor where the server does not get to see who calls.
func TestBridgedSessionsAreOfOneCallerWhoseTokenIsReplaced(t *testing.T) {
	eachOf(t, []reach{overPlain, overStdio}, func(t *testing.T, r reach) {
		site := r.startLegacy(t, 1)
		site.keys = "authorization = \"replace\"\nauthorization_value = \"Bearer own\"\n"
		sessionsAreOfOneCaller(t, site.start(t, "").url())
	})
}

func sessionsAreOfOneCaller(t *testing.T, url string) {
	t.Helper()
	callers := map[string]*askingClient{}
	for _, token := range []string{"alice", "bob", ""} {
		c := newAskingClient(t)
		c.token = token
		callers[token] = c
		call := askedCall{client: c, name: "remember", args: map[string]any{"value": "secret of " + token}}
		if got, err := call.send(t, url, "", nil); err != nil || got.said() == "" {
			t.Fatalf("remember: got %v, %v", got, err)
		}
	}
	sessions := map[string]string{}
	for range 8 {
		for token, c := range callers {
			view := c.session(t, url)
			if view.Remembered != "" && view.Remembered != "secret of "+token {
				t.Fatalf("%q sees %q", token, view.Remembered)
			}
			if owner, ok := sessions[view.Session]; ok && owner != token {
				t.Fatalf("%q and %q share the session %s", owner, token, view.Session)
			}
			sessions[view.Session] = token
		}
	}
}

// A session is opened with what its client declares; a server sees nothing of the modern era.
func TestBridgedSessionsDeclareWhatTheirClientDoes(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		for _, declared := range []map[string]any{
			{}, {"sampling": map[string]any{}}, {"elicitation": map[string]any{}}, allKinds(),
		} {
			c := newAskingClient(t)
			c.capabilities = declared
			view := c.session(t, url)
			for _, kind := range []string{"elicitation", "sampling", "roots"} {
				_, want := declared[kind]
				if _, got := view.Capabilities[kind]; got != want {
					t.Errorf("declared %v: the server was told %v", declared, view.Capabilities)
				}
			}
			for key := range view.Meta {
				t.Errorf("the server is told _meta %s", key)
			}
			for _, header := range []string{"mcp-method", "mcp-name"} {
				if value, ok := view.Headers[header]; ok {
					t.Errorf("the server is told %s: %s", header, value)
				}
			}
		}
	})
}

// Requests that ask nothing share a session however many there are, and so do calls that come one
// after another.
func TestBridgedRequestsShareASession(t *testing.T) {
	t.Parallel()
	site := overPlain.startLegacy(t, 1)
	url := site.start(t, "").url()
	client := newAskingClient(t)
	crowd(t, 50, 50, func(int) {
		if got, err := client.ask(t, url, "tools/list", nil); err != nil || len(got.Result.Tools) == 0 {
			t.Errorf("got %v, %v, want the tools", got, err)
		}
	})
	for range 10 {
		client.session(t, url)
	}
	if n := site.fleet[0].stats(t).Sessions; n != 1 {
		t.Errorf("sessions: got %d, want 1", n)
	}
}

// What a server wants to know of its caller the caller is told, and may show.
func TestBridgedServersMayChallengeTheirCallers(t *testing.T) {
	eachOf(t, []reach{overPlain, overSSE}, func(t *testing.T, r reach) {
		url := r.startLegacy(t, 1, "--token", "secret").start(t, "").url()
		client := newAskingClient(t)
		for _, token := range []string{"", "wrong", "secret", "wrong", "secret"} {
			client.token = token
			got, err := asksOnce(client, "challenged").send(t, url, "", nil)
			switch {
			case err != nil:
				t.Errorf("with %q: %v", token, err)
			case token == "secret" && !got.asks():
				t.Errorf("with the token: got %v, want its question", got)
			case token != "secret" && (got.status != 401 || got.header.Get("WWW-Authenticate") == ""):
				t.Errorf("with %q: got %v, %v, want the server's challenge", token, got, got.header)
			}
		}
	})
}

// Lists in pages come whole, whichever instance a page's request reaches.
func TestBridgedListsComeWhole(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		whole := listed(t, r.startLegacy(t, 1).start(t, "").url())
		paged := listed(t, r.startLegacy(t, 3, "--page", "3").start(t, "").url())
		if len(whole) < 20 || fmt.Sprint(whole) != fmt.Sprint(paged) {
			t.Errorf("got %v in pages, want %v", paged, whole)
		}
	})
}

// listed are the names of all tools.
func listed(t testing.TB, url string) (names []string) {
	t.Helper()
	client, params := newAskingClient(t), map[string]any{}
	for range 40 {
		got, err := client.ask(t, url, "tools/list", params)
		if err != nil || got.Error != nil {
			t.Fatalf("tools/list: got %v, %v", got, err)
		}
		for _, tool := range got.Result.Tools {
			names = append(names, tool.Name)
		}
		if got.Result.NextCursor == "" {
			return names
		}
		params["cursor"] = got.Result.NextCursor
	}
	t.Fatalf("tools/list does not end: %v", names)
	return nil
}

// What a client subscribes to comes from each instance's sessions.
func TestBridgedSubscriptionsHearOfChanges(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		const uri = "test://watched-resource"
		url := r.startLegacy(t, 1).start(t, "").url()
		client := newAskingClient(t)
		heard := client.listen(t, url, map[string]any{"toolsListChanged": true, "resourceSubscriptions": []string{uri}})
		if first := <-heard; first.Method != "notifications/subscriptions/acknowledged" {
			t.Fatalf("first heard %+v, want the acknowledgement", first)
		}
		for _, c := range []struct {
			tool, want string
			args       map[string]any
		}{
			{"test_trigger_prompt_change", "", nil}, // was not asked for
			{"test_trigger_tool_change", "notifications/tools/list_changed", nil},
			{"touch_resource", "notifications/resources/updated", map[string]any{"uri": uri}},
		} {
			if c.tool == "touch_resource" && r.name == overStdio.name {
				continue // the tool runs in a process of its own, and the resource that it touches is that one's
			}
			if got, err := (askedCall{client: client, name: c.tool, args: c.args}).send(t, url, "", nil); err != nil || got.said() == "" {
				t.Fatalf("%s: got %v, %v", c.tool, got, err)
			}
			if c.want == "" {
				continue
			}
			if m := <-heard; m.Method != c.want || m.Params.Meta["io.modelcontextprotocol/subscriptionId"] == nil {
				t.Errorf("%s: heard %+v, want %s of this subscription", c.tool, m, c.want)
			}
		}
	})
}

// listen opens a subscription. What it hears ends, with zero messages, when the stream does.
func (c *askingClient) listen(t testing.TB, url string, filter map[string]any) <-chan message {
	t.Helper()
	request := c.request(t, t.Context(), url, "subscriptions/listen", map[string]any{"notifications": filter})
	response, err := c.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { response.Body.Close() })
	heard := make(chan message, 64)
	go func() {
		defer close(heard)
		for stream := newEvents(response.Body); ; {
			data, err := stream.next()
			if err != nil {
				return
			}
			var m message
			if json.Unmarshal(data, &m) == nil && m.Method != "" {
				heard <- m
			}
		}
	}()
	return heard
}
