//go:build e2e

package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// callingPage calls berth from a page: it makes a task of a tool's call, polls it to its
// end, and asks in a session that nobody knows. What it could read it tells its own server.
const callingPage = `<!doctype html><script>
const tasks = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {extensions: {"io.modelcontextprotocol/tasks": {}}}};
async function post(body, headers) {
  const response = await fetch("BERTH", {method: "POST", credentials: "include", body: JSON.stringify({jsonrpc: "2.0", id: 1, ...body}),
    headers: {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": "Bearer page", ...headers}});
  return {status: response.status, body: await response.json()};
}
const modern = (method, name, params) => post({method, params: {...params, _meta: tasks}},
  {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name});
async function run() {
  const handle = await modern("tools/call", "work", {name: "work", arguments: {call: "page"}});
  const taskId = handle.body.result.taskId;
  let poll;
  do {
    poll = await modern("tasks/get", taskId, {taskId});
    await new Promise(resolve => setTimeout(resolve, 50));
  } while (poll.body.result.status == "working");
  const gone = await post({method: "ping"}, {"MCP-Protocol-Version": "2025-11-25", "Mcp-Session-Id": "gone"});
  return {handle, poll, gone};
}
run().catch(e => ({failed: String(e)})).then(told => fetch("/told", {method: "POST", body: JSON.stringify(told)}));
</script>`

// told is what such a page could read.
type told struct {
	Handle, Poll, Gone struct {
		Status int
		Body   struct {
			Result struct {
				TaskID, Status string
			}
			Error struct{ Code int }
		}
	}
	Failed string
}

// browse opens the page under a host name, which is no other page's origin, and returns what it tells.
func browse(t testing.TB, browser context.Context, port, host string, tells <-chan told) told {
	t.Helper()
	tab, closeTab := chromedp.NewContext(browser)
	defer closeTab()
	if err := chromedp.Do(tab, chromedp.Navigate("http://"+host+":"+port+"/")); err != nil {
		t.Fatalf("opening the page: %v", err)
	}
	select {
	case page := <-tells:
		return page
	case <-time.After(time.Minute):
		t.Fatal("the page told nothing")
	}
	return told{}
}

// TestPageCallsThroughBerth: a page of a listed origin has all of a task, of a server that
// knows nothing of pages, and sees that a session is gone. A page of any other has nothing.
func TestPageCallsThroughBerth(t *testing.T) {
	t.Parallel()
	tool := &plainTool{}
	tool.letAll()
	fleet := startLocalFleet(t, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		if tool.serve(w, r, body) {
			return true
		}
		http.NotFound(w, r)
		return true
	})
	tells := make(chan told, 1)
	var berth atomic.Pointer[string]
	pages := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			var page told
			body, _ := io.ReadAll(r.Body)
			if err := json.Unmarshal(body, &page); err != nil {
				page.Failed = fmt.Sprintf("%s: %v", body, err)
			}
			tells <- page
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, strings.ReplaceAll(callingPage, "BERTH", *berth.Load()))
	}))
	t.Cleanup(pages.Close)
	port := pages.URL[strings.LastIndexByte(pages.URL, ':')+1:]
	var upstreams strings.Builder
	for _, i := range fleet.fleet {
		fmt.Fprintf(&upstreams, "[[pools.upstreams]]\nname = %q\nurl = %q\n", i.name, i.url())
	}
	config := fmt.Sprintf("[[pools]]\norigins = [\"http://app.example:%s\"]\n%s\n%s", port, &upstreams, heldRules)
	at := startBerth(t, nil, "--config", configFile(t, config)).url()
	berth.Store(&at)
	browser := openBrowser(t, chromedp.Flag("host-resolver-rules", "MAP * 127.0.0.1")) // whatever name it looks up
	page := browse(t, browser, port, "app.example", tells)
	switch {
	case page.Failed != "":
		t.Errorf("the page failed: %s", page.Failed)
	case page.Handle.Status != 200 || page.Handle.Body.Result.TaskID == "":
		t.Errorf("no handle: %+v", page.Handle)
	case page.Poll.Status != 200 || page.Poll.Body.Result.Status != "completed":
		t.Errorf("the task did not end: %+v", page.Poll)
	case page.Gone.Status != 404 || page.Gone.Body.Error.Code != -32600:
		t.Errorf("in a session that nobody knows: %+v, want 404", page.Gone)
	}
	if page := browse(t, browser, port, "evil.example", tells); page.Failed == "" {
		t.Errorf("a page that is not listed was told %+v", page)
	}
	if n := tool.ran("page"); n != 1 {
		t.Errorf("the tool was run %d times, want once", n)
	}
}
