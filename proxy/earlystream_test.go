package proxy_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"berth/proxy"
	"berth/upgrade"
)

// plainCalls are calls of "work" by clients that take no tasks. The token is for
// progress; "" is none.
var plainCalls = map[string]func(f *rig, token string) *http.Request{
	"modern": func(f *rig, token string) *http.Request {
		return f.request(f.t.Context(), http.MethodPost, message("tools/call", `"name":"work","_meta":{`+metaVersion+progressMeta(token)+`}`), modernHeader("tools/call", "work")...)
	},
	"legacy": func(f *rig, token string) *http.Request {
		return f.request(f.t.Context(), http.MethodPost, message("tools/call", `"name":"work","_meta":{"x":1`+progressMeta(token)+`}`), legacyHeader("")...)
	},
}

func progressMeta(token string) string {
	if token == "" {
		return ""
	}
	return `,"progressToken":` + token
}

// after answers once so much time has passed.
func after(d time.Duration, answer faultFunc) faultFunc {
	return func(w http.ResponseWriter, r *http.Request, body []byte) bool {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
			return true
		}
		return answer(w, r, body)
	}
}

const doneJSON = `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}`

// timeline reads a stream to its end and tells what came when: "comment", "progress", or
// the last event's data.
func timeline(t *testing.T, resp *http.Response, began time.Time) (seen []string, last string) {
	t.Helper()
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		data, isData := strings.CutPrefix(lines.Text(), "data: ")
		at := time.Since(began)
		switch {
		case lines.Text() == ":":
			seen = append(seen, fmt.Sprintf("comment at %v", at))
		case isData && strings.Contains(data, "notifications/progress"):
			seen = append(seen, fmt.Sprintf("progress at %v", at))
		case isData:
			seen, last = append(seen, fmt.Sprintf("answer at %v", at)), data
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("after %v: %v", seen, err)
	}
	return seen, last
}

// A client that takes no tasks, and counts nothing but progress, gets an answer that takes
// longer than it would wait in silence.
func TestLongPlainCallIsKeptAlive(t *testing.T) {
	for era, call := range plainCalls {
		for _, token := range []string{"", `"t"`} {
			t.Run(era+" "+token, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newRig(t, rigOptions{options: withRule})
					f.servers[0].inject(after(47*time.Second, say(jsonType, doneJSON)))
					began := time.Now()
					resp := f.open(call(f, token))
					defer resp.Body.Close()
					if opened := time.Since(began); opened != 10*time.Second || resp.StatusCode != http.StatusOK || resp.Header.Get("Content-Type") != eventsType {
						t.Errorf("got %d %v after %v, want an event stream after 10s", resp.StatusCode, resp.Header, opened)
					}
					seen, last := timeline(t, resp, began)
					want := []string{"comment at 10s", "comment at 25s", "comment at 40s", "answer at 47s"}
					if token != "" {
						want = append(want, "progress at 25s", "progress at 40s")
					}
					slices.Sort(seen)
					slices.Sort(want)
					if !slices.Equal(seen, want) || last != doneJSON {
						t.Errorf("got %v, the last %s, want %v, the last %s", seen, last, want, doneJSON)
					}
				})
			})
		}
	}
}

// Progress must grow, and stay below what a tool itself may tell.
func TestProgressOfBerthsOwnGrowsAndStaysSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{options: withRule})
		f.servers[0].inject(after(24*time.Hour, say(jsonType, doneJSON)))
		told, before := 0, 0.0
		for _, data := range eventsIn(f.do(plainCalls["modern"](f, "7")).body) {
			var m struct {
				Method string
				Params struct{ ProgressToken, Progress float64 }
			}
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				t.Fatal(err)
			}
			if m.Method != "notifications/progress" {
				continue
			}
			if p := m.Params; p.ProgressToken != 7 || p.Progress <= before || p.Progress > 0.01 {
				t.Fatalf("got %s after %v", data, before)
			}
			told, before = told+1, m.Params.Progress
		}
		if want := 24*60*4 - 1; told != want {
			t.Errorf("told %d times, want %d", told, want)
		}
	})
}

// Tools begin at 0 as a rule, also where berth has told progress by then.
func TestToolsProgressGrowsFromBerths(t *testing.T) {
	progress := func(number, rest string) string {
		return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":` + number + rest + `}}`
	}
	for name, before := range map[string]time.Duration{"in the early stream": 30 * time.Second, "in its own stream": 0} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{options: withRule})
				f.servers[0].inject(after(before, streams(func(_ context.Context, write func(string)) {
					time.Sleep(30*time.Second - before)
					write("id: 7\ndata: " + progress("0", `,"total":5,"message":"a"`) + "\n\n")
					write("data: " + progress("-1e400", "") + "\n\n")
					time.Sleep(15 * time.Second)
					for _, number := range []string{"0.0000041", "2", "0"} {
						write("data: " + progress(number, "") + "\n\n")
					}
					time.Sleep(time.Minute)
					write(doneEvent)
				})))
				body := f.do(plainCalls["modern"](f, "1")).body
				want := []string{
					progress("0.000001", ""), progress("0.000002", `,"total":5,"message":"a"`), progress("0.000003", ""),
					progress("0.000004", ""), progress("0.0000041", ""), progress("2", ""), progress("0", ""), doneJSON,
				}
				if got := eventsIn(body); !slices.Equal(got, want) || !strings.Contains(body, "id: 7\ndata: "+want[1]) {
					t.Errorf("got %s", body)
				}
			})
		})
	}
}

// Nobody else's answers change.
func TestOnlySlowCallsThatARuleNamesAreKeptAlive(t *testing.T) {
	modern := plainCalls["modern"]
	for name, c := range map[string]struct {
		takes   time.Duration
		rules   func(*proxy.Options)
		request func(f *rig) *http.Request
	}{
		"answered in time": {10*time.Second - 1, withRule, func(f *rig) *http.Request { return modern(f, `1`) }},
		"no rule":          {time.Minute, nil, func(f *rig) *http.Request { return modern(f, `1`) }},
		"of another pool": {time.Minute, func(o *proxy.Options) {
			o.Rules = upgrade.Rules{{Pool: "other", Tools: []string{"work"}}}
		}, func(f *rig) *http.Request { return modern(f, `1`) }},
		"another tool": {time.Minute, withRule, func(f *rig) *http.Request {
			return f.legacyRequest(f.t.Context(), "", "tools/call", `"name":"play"`)
		}},
		"another method": {time.Minute, withRule, func(f *rig) *http.Request {
			return f.legacyRequest(f.t.Context(), "", "prompts/get", `"name":"work"`)
		}},
		"in a batch": {time.Minute, withRule, func(f *rig) *http.Request {
			return f.request(f.t.Context(), http.MethodPost, `[`+message("tools/call", `"name":"work"`)+`]`, "MCP-Protocol-Version", "2025-03-26")
		}},
		"no event streams": {time.Minute, withRule, func(f *rig) *http.Request {
			r := modern(f, `1`)
			r.Header.Set("Accept", "application/json, text/event-stream;q=0")
			return r
		}},
		"a page's": {time.Minute, withRule, func(f *rig) *http.Request {
			r := modern(f, `1`)
			r.Header.Set("Origin", "http://berth")
			return r
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{options: c.rules, endpoint: func(ep *proxy.Endpoint) { ep.Timeouts.Read = 0 }})
				f.servers[0].inject(after(c.takes, func(w http.ResponseWriter, r *http.Request, body []byte) bool {
					w.Header().Set("X-Upstream", "1")
					return sayStatus(http.StatusTeapot, jsonType, doneJSON)(w, r, body)
				}))
				r := f.do(c.request(f))
				if r.status != http.StatusTeapot || r.header.Get("X-Upstream") != "1" || r.header.Get("Content-Type") != jsonType || r.body != doneJSON {
					t.Errorf("got %d %v %q, want the upstream's answer", r.status, r.header, r.body)
				}
			})
		})
	}
}

// What the upstream does not send is waited for, whether its headers are here or not:
// until the first of its body came, the client has nothing either.
func TestHeaderWithoutABodyIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{options: withRule})
		f.servers[0].inject(func(w http.ResponseWriter, r *http.Request, body []byte) bool {
			w.Header().Set("Content-Type", jsonType)
			_ = http.NewResponseController(w).Flush()
			return after(time.Minute, say(jsonType, doneJSON))(w, r, body)
		})
		began := time.Now()
		resp := f.open(plainCalls["modern"](f, ""))
		defer resp.Body.Close()
		if opened := time.Since(began); opened != 10*time.Second {
			t.Errorf("opened after %v, want 10s", opened)
		}
		if _, last := timeline(t, resp, began); last != doneJSON {
			t.Errorf("got %s", last)
		}
	})
}

// The upstream's own stream goes on where berth's began, and berth's progress ends with
// the tool's first.
func TestUpstreamsStreamGoesOnInBerths(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{options: withRule})
		const log = `data: {"jsonrpc":"2.0","method":"notifications/message","params":{"data":"x"}}` + "\n\n"
		f.servers[0].inject(after(30*time.Second, streams(func(_ context.Context, write func(string)) {
			for range 4 { // never silent for long, but nothing that counts for the client
				write(log)
				time.Sleep(10 * time.Second)
			}
			write(progressEvent)
			time.Sleep(20 * time.Second)
			write(doneEvent)
		})))
		began := time.Now()
		resp := f.open(plainCalls["modern"](f, "1"))
		defer resp.Body.Close()
		seen, last := timeline(t, resp, began)
		want := []string{
			"comment at 10s", "comment at 25s", "progress at 25s",
			"answer at 30s", "answer at 40s", "progress at 40s", "answer at 50s", "progress at 55s", "answer at 1m0s",
			"progress at 1m10s", // the tool's; or, first, berth's, which was due as well
			"comment at 1m25s", "answer at 1m30s",
		}
		if n := slices.Index(seen, "progress at 1m10s"); n >= 0 && n+1 < len(seen) && seen[n+1] == seen[n] {
			seen = slices.Delete(seen, n, n+1)
		}
		slices.Sort(seen)
		slices.Sort(want)
		if !slices.Equal(seen, want) || last+"\n\n" != strings.TrimPrefix(doneEvent, "data: ") {
			t.Errorf("got  %v, the last %s\nwant %v", seen, last, want)
		}
	})
}

// Most servers of sessions open their stream at once and are silent then: comments alone do
// not keep clients that count only progress, which give up after 60 s.
func TestSilentStreamOfAnUpstreamTellsProgress(t *testing.T) {
	for name, c := range map[string]struct {
		token string
		tells bool // the tool tells of its own progress at once
		want  []string
	}{
		"asked for":      {"1", false, []string{"comment at 15s", "progress at 25s", "progress at 40s", "progress at 55s", "answer at 1m0s"}},
		"not asked for":  {"", false, []string{"comment at 15s", "comment at 30s", "comment at 45s", "answer at 1m0s"}},
		"the tool tells": {"1", true, []string{"progress at 0s", "comment at 15s", "comment at 30s", "comment at 45s", "answer at 1m0s"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newRig(t, rigOptions{options: withRule})
				f.servers[0].inject(streams(func(_ context.Context, write func(string)) {
					if c.tells {
						write(progressEvent)
					}
					time.Sleep(time.Minute)
					write(doneEvent)
				}))
				began := time.Now()
				resp := f.open(plainCalls["legacy"](f, c.token))
				defer resp.Body.Close()
				seen, _ := timeline(t, resp, began)
				// What falls due in one instant with something else may come or not.
				seen = slices.DeleteFunc(seen, func(s string) bool {
					at, comment := strings.CutPrefix(s, "comment ")
					return comment && (slices.Contains(c.want, "progress "+at) || slices.Contains(c.want, "answer "+at))
				})
				if !slices.Equal(seen, c.want) {
					t.Errorf("got  %v\nwant %v", seen, c.want)
				}
			})
		})
	}
}

// An upstream's stream that breaks must not look as if it had brought its response, whoever
// began it.
func TestUpstreamsStreamThatBreaksIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newRig(t, rigOptions{options: withRule})
		f.servers[0].inject(after(time.Minute, streams(func(_ context.Context, write func(string)) {
			write(progressEvent)
			panic(http.ErrAbortHandler)
		})))
		got := f.do(plainCalls["modern"](f, "")).body
		if _, last, _ := strings.Cut(got, progressEvent); !strings.Contains(last, `"upstream_reset"`) {
			t.Errorf("got %q; want the event, and an error last", got)
		}
	})
}
