package proxy_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/routing"
	"berth/upgrade"
)

func afterTenSeconds(r *upgrade.Rule) { r.After = 10 * time.Second }

// The answer that a client waits for bears its own id, also where the first instance could
// not be reached and the call was dispatched a second time.
func TestAnswerInTimeBearsTheClientsID(t *testing.T) {
	f := newUpgraded(t, rigOptions{size: 2, picker: new(routing.RoundRobin)}, afterTenSeconds)
	f.answers(sayResult(done))
	f.servers[1].kill()
	for range 4 {
		r := f.callTool()
		var m struct{ ID json.RawMessage }
		if err := json.Unmarshal([]byte(r.body), &m); err != nil || r.status != http.StatusOK || string(m.ID) != "1" {
			t.Errorf("got %d %s, want the answer to request 1", r.status, r.body)
		}
	}
}

// An answer that has begun is none yet: where the rest of it stalls, the client gets a
// task when its time is over, and the rest is the task's.
func TestAnswerThatStallsHalfWayBecomesATask(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, afterTenSeconds)
		f.answers(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			whole := response(body, `"result":`+done)
			w.Header().Set("Content-Type", jsonType)
			for _, part := range []string{" \n", whole[:20], whole[20:]} {
				_, _ = w.Write([]byte(part)) // a client that is gone is the test's to see
				_ = http.NewResponseController(w).Flush()
				time.Sleep(9 * time.Second)
			}
			return true
		})
		var id string
		if took := elapsed(func() { id = f.made() }); took != 10*time.Second {
			t.Errorf("the handle came after %v", took)
		}
		time.Sleep(20 * time.Second)
		if v := f.look(id); v.Status != "completed" || string(v.Result) != done {
			t.Errorf("got %+v", v)
		}
	})
}

// A client that leaves while it is given an answer ends the call, however much of that is still to come.
func TestClientThatLeavesInItsAnswer(t *testing.T) {
	for contentType, begin := range map[string]string{
		jsonType:   `{"jsonrpc":"2.0","id":1,"result":{"x":"` + strings.Repeat("x", 128<<10),
		eventsType: "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{}}\n\n",
	} {
		t.Run(contentType, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newUpgraded(t, rigOptions{}, afterTenSeconds)
				f.answers(func(w http.ResponseWriter, r *http.Request, _ []byte) bool {
					w.Header().Set("Content-Type", contentType)
					_, _ = io.WriteString(w, begin)
					_ = http.NewResponseController(w).Flush()
					<-r.Context().Done()
					return true
				})
				ctx, hangUp := context.WithTimeout(t.Context(), time.Second)
				defer hangUp()
				if resp, err := f.client.Do(f.modernRequest(ctx, "tools/call", "work", `"name":"work","arguments":{}`)); err == nil {
					_, _ = io.Copy(io.Discard, resp.Body)
					resp.Body.Close()
				}
				f.eventually("the upstream's hang-up", func() bool { return f.servers[0].Hangups("tools/call") == 1 })
				f.leavesNothing()
			})
		})
	}
}

// A stream that says nothing for a while is waited for without its header. The client that waits as long is answered with
// what stood there.
func TestAStreamThatBeginsSilentlyKeepsItsHeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newUpgraded(t, rigOptions{}, afterTenSeconds)
		f.answers(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("X-Tool", "slow")
			_ = http.NewResponseController(w).Flush() // a client that is gone is the test's to see
			time.Sleep(5 * time.Second)
			_, _ = w.Write([]byte("data: " + response(body, `"result":`+done) + "\n\n"))
			return true
		})
		r := f.callTool()
		if got := r.header.Get("X-Tool"); r.status != http.StatusOK || got != "slow" || !strings.Contains(r.body, done) {
			t.Errorf("got %d with %q: %s", r.status, got, r.body)
		}
	})
}

// A task that an unreadable error fails can be read all the same.
func TestErrorsThatAreNoneFailATaskInWordsOfBerth(t *testing.T) {
	for _, object := range []string{
		`"no"`, `5`, `true`, `[]`, `{}`, `{"code":"x","message":"m"}`, `{"code":-1}`, `{"message":"m"}`, `{"code":-1,"message":{}}`,
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newUpgraded(t, rigOptions{}, nil)
			f.answers(sayError(object))
			id := f.made()
			synctest.Wait()
			v := f.look(id)
			if v.Status != "failed" || !strings.Contains(string(v.Error), `"code":-32603`) || !strings.Contains(string(v.Error), "bad_upstream_response") {
				t.Errorf("%s: got %s %s", object, v.Status, v.Error)
			}
		})
	}
}

// Nobody calls a tool that is to be called as a task only by hiding the call in a batch.
func TestRequiredToolsAreNotCalledInBatches(t *testing.T) {
	f := newUpgraded(t, rigOptions{}, func(r *upgrade.Rule) { r.Required = true })
	f.answers(sayResult(done))
	batch := `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"work"}}]`
	for _, version := range []string{"2025-03-26", ""} {
		header := []string{"Content-Type", jsonType, "Accept", jsonType + ", " + eventsType}
		if version != "" {
			header = append(header, "Mcp-Protocol-Version", version)
		}
		r := f.do(f.request(t.Context(), http.MethodPost, batch, header...))
		if r.status != http.StatusBadRequest || !strings.Contains(r.body, "-32600") {
			t.Errorf("version %q: got %d %s", version, r.status, r.body)
		}
	}
	if sent := f.seen.all(); len(sent) != 0 {
		t.Errorf("the instance was sent %v", sent)
	}
}
