package bridge

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"berth/internal/mcp"
	"berth/proxy/bridge/tools"
)

// What is of the modern era alone stays here, and all else goes there as it came.
func TestARequestIsTranslated(t *testing.T) {
	bridged(t, tool(kind{}, where), nil, func(r *rig) {
		r.do(asking{name: "asks", params: `"arguments":{ "n" : 1.0,"task":{} }, "task":{"ttl":1},"inputResponses":{},`, meta: `,"traceparent":"t","io.modelcontextprotocol/logLevel":"info"`})
		body := r.sent("tools/call")[0].body
		id, rest, _ := strings.Cut(strings.TrimPrefix(body, `{"jsonrpc":"2.0","id":`), ",")
		if want := `"method":"tools/call","params":{"arguments":{ "n" : 1.0,"task":{} },"name":"asks","_meta":{"traceparent":"t"}}}`; rest != want || !strings.HasPrefix(id, `"berth-`) {
			t.Errorf("sent %s", body)
		}
	})
}

func TestAnswersAreTranslated(t *testing.T) {
	big := `{"content":[{"text":"` + strings.Repeat("x", 1<<20) + `"}]}`
	for name, tc := range map[string]struct {
		result, want string
		status       int
	}{
		"a result":          {`"result":{"content":[ 1.0 ]}`, `"result":{"resultType":"complete","content":[ 1.0 ]}`, 200},
		"an error":          {`"error":{"code":-32603,"message":"m"}`, `"error":{"code":-32603,"message":"m"}`, 200},
		"no such resource":  {`"error":{"code":-32002,"message":"m","data":{"uri":"u"}}`, `"error":{"code":-32602,"message":"m","data":{"uri":"u"}}`, 200},
		"no such tool":      {`"error":{"code":-32601,"message":"m"}`, `"error":{"code":-32601,"message":"m"}`, 200},
		"a code of its own": {`"error":{"code":-32021,"message":"m","data":{"mine":1}}`, `"error":{"code":-32603,"message":"m","data":{"mine":1}}`, 200},
		"codes as numbers":  {`"error":{"code":-32601.0,"message":"m"}`, `"error":{"code":-32601,"message":"m"}`, 200},
		"no such, likewise": {`"error":{"code":-3.2002e4,"message":"m"}`, `"error":{"code":-32602,"message":"m"}`, 200},
		"a big result":      {`"result":` + big, `"result":{"resultType":"complete",` + big[1:], 200},
	} {
		for way, of := range map[string]kind{"streamed": {}, "whole": {whole: true}} {
			t.Run(name+", "+way, func(t *testing.T) {
				bridged(t, tool(of, func(k *running) { k.result = tc.result }), nil, func(r *rig) {
					if g := r.do(asking{name: "asks", id: `"i"`}); g.status != tc.status || g.text != `{"jsonrpc":"2.0","id":"i",`+tc.want+`}` {
						t.Errorf("got %d %.300s", g.status, g.text)
					}
				})
			})
		}
	}
	bridged(t, &upstream{kind: kind{does: `{"tools":{},"prompts":{},"resources":{},"completions":{}}`}}, nil, func(r *rig) {
		for method, cached := range map[string]bool{"tools/list": true, "prompts/list": true, "resources/list": true, "resources/templates/list": true, "completion/complete": false} {
			if g := r.do(asking{method: method}); g.Result.Type != "complete" || strings.Contains(g.text, `"ttlMs":0,"cacheScope":"private"`) != cached {
				t.Errorf("%s: got %s", method, g.text)
			}
		}
	})
}

// A server that lacks a method is told from one that lacks what a call names: the former alone is 404.
func TestAMethodThatTheServerOffersIsThere(t *testing.T) {
	for way, of := range map[string]kind{"streamed": {}, "whole": {whole: true}} {
		for version, completes := range map[string]int{"2024-11-05": 404, "2025-11-25": 200} {
			of.does = `{"tools":{},"prompts":{},"resources":{},"completions":{}}`
			u := tool(of, func(k *running) { k.result = `"error":{"code":-32601,"message":"no such"}` })
			u.faults = func(w http.ResponseWriter, r *http.Request, m message) bool {
				switch m.Method {
				case "initialize":
					u.initialize(inVersion{w, version}, m)
				case "resources/templates/list", "completion/complete", "x/unknown":
					respond(w, 200, `{"jsonrpc":"2.0","id":`+string(m.ID)+`,"error":{"code":-32601,"message":"no such"}}`)
				default:
					return false
				}
				return true
			}
			bridged(t, u, nil, func(r *rig) {
				for method, want := range map[string]int{
					"tools/call": 200, "prompts/get": 200, "resources/read": 200, "completion/complete": completes,
					"resources/templates/list": 404, "x/unknown": 404,
				} {
					a := asking{method: method}
					if want == 200 && method != "completion/complete" {
						a.name = "asks"
					}
					if g := r.do(a); g.status != want || g.text != `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such"}}` {
						t.Errorf("%s of %s, %s: got %d %s, want %d", method, version, way, g.status, g.text, want)
					}
				}
			})
		}
	}
}

// Completion was there before its capability was: a server of 2024-11-05 judges itself. What nobody knows is not announced.
func TestCompletionByServersThatCannotSaySo(t *testing.T) {
	for version, want := range map[string]int{"2024-11-05": 200, "2025-03-26": 404, "2025-11-25": 404} {
		u := &upstream{}
		u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
			if m.Method == "initialize" {
				u.initialize(inVersion{w, version}, m)
			}
			return m.Method == "initialize"
		}
		bridged(t, u, nil, func(r *rig) {
			if g := r.do(asking{method: "completion/complete"}); g.status != want {
				t.Errorf("%s: got %d %s", version, g.status, g.text)
			}
			if g := r.do(asking{method: "server/discover"}); g.status != 200 || strings.Contains(g.text, "completions") {
				t.Errorf("%s: got %d %s", version, g.status, g.text)
			}
		})
	}
}

// inVersion has an answer to initialize be of another version.
type inVersion struct {
	http.ResponseWriter
	version string
}

func (w inVersion) Write(p []byte) (int, error) {
	_, err := w.ResponseWriter.Write(bytes.ReplaceAll(p, []byte("2025-11-25"), []byte(w.version)))
	return len(p), err
}

// Progress that does not increase is not told (2026-07-28, "Progress").
func TestProgressIncreases(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		for _, n := range []int{5, 3, 5, 6} {
			k.progress(n)
			time.Sleep(time.Second)
		}
		k.ends()
	})
	bridged(t, u, nil, func(r *rig) {
		var told []string
		for _, message := range r.do(asking{name: "asks", meta: `,"progressToken":7`}).all {
			if _, n, ok := strings.Cut(message, `"progress":`); ok {
				told = append(told, n[:1])
			}
		}
		if got := strings.Join(told, " "); got != "5 6" {
			t.Errorf("told %s", got)
		}
	})
}

// A client that takes no event stream, which it may where headers are not insisted on, is given the one message that a call comes to.
func TestAClientThatTakesNoStream(t *testing.T) {
	for name, tc := range map[string]struct {
		accept string
		all    int
	}{"json": {"application/json", 1}, "no weight": {"*/*, text/event-stream;q=0", 1}, "any": {"*/*", 1}, "all text": {"*/*, text/*", 3}} {
		u := tool(kind{}, func(k *running) {
			k.progress(1)
			time.Sleep(2 * patience)
			k.progress(2)
			k.ends(k.ask())
		})
		bridged(t, u, func(o *Options) { o.Endpoint.Lenient = true }, func(r *rig) {
			call := asking{name: "asks", meta: `,"progressToken":7`, header: []string{"Accept", tc.accept}}
			first := r.do(call)
			call.params = first.answers(accepted)
			if last := r.do(call); len(first.all) != tc.all || first.Result.Type != "input_required" || len(last.Result.Got) != 1 {
				t.Errorf("%s: got %q, then %q", name, first.all, last.all)
			}
		})
	}
}

// Servers of 2025-03-26 may send in batches what they have to say on a stream.
func TestBatchesAreTakenApart(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		text, _, answer := k.question("elicitation/create", formAsk)
		k.say(`[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + k.token + `,"progress":1}}, ` + text + `]`)
		k.ends(k.wait(answer))
		k.say(`[{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + k.token + `,"progress":2}},{"jsonrpc":"2.0","id":` + k.id + `,` + k.result + `}]`)
		k.result = ""
	})
	bridged(t, u, nil, func(r *rig) {
		h := r.hear(`{"toolsListChanged":true,"promptsListChanged":true}`, asking{})
		h.next()
		call := asking{name: "asks", meta: `,"progressToken":7`}
		first := r.do(call)
		call.params = first.answers(accepted)
		if last := r.do(call); len(first.all) != 2 || len(last.all) != 2 || len(last.Result.Got) != 1 || r.ran() != 1 {
			t.Errorf("got %q, then %q", first.all, last.all)
		}
		r.say(`[` + toolsChanged + `,` + promptsChanged + `]`)
		if a, b := h.next(), h.next(); !strings.Contains(a, "tools/list_changed") || !strings.Contains(b, "prompts/list_changed") {
			t.Errorf("heard %q and %q", a, b)
		}
		h.stop()
	})
}

// A byte order mark, which some servers begin their bodies with, is none of the answer.
func TestBodiesBeginWithAByteOrderMark(t *testing.T) {
	u := tool(kind{mark: "\ufeff", lists: `{"tools":[{"name":"asks","inputSchema":{"type":"object"}}],"nextCursor":"2"}`}, where)
	bridged(t, u, nil, func(r *rig) {
		if g := r.do(asking{name: "none"}); g.status != 200 || g.text != `{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}` {
			t.Errorf("an error: got %d %s", g.status, g.text)
		}
		g := r.do(asking{method: "tools/list"})
		if !strings.HasPrefix(g.text, `{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete"`) {
			t.Errorf("a list: got %d %s", g.status, g.text)
		}
		r.do(asking{method: "tools/list", params: `"cursor":"` + mcp.CursorIn(mcp.ResultObject([]byte(g.text))) + `",`})
		if asked := r.sent("tools/list"); !strings.Contains(asked[len(asked)-1].body, `"cursor":"2"`) {
			t.Errorf("its second page was asked for with %s", asked[len(asked)-1].body)
		}
	})
}

// An error that names no request is that of the call which it answers.
func TestAnErrorThatNamesNoRequestIsTheCallsOwn(t *testing.T) {
	const failure = `"error":{"code":-32600,"message":"m"}}`
	for name, text := range map[string]string{"id null": `{"jsonrpc":"2.0","id":null,` + failure, "no id": `{"jsonrpc":"2.0",` + failure} {
		for way, of := range map[string]kind{"streamed": {}, "whole": {whole: true}} {
			t.Run(name+", "+way, func(t *testing.T) {
				u := tool(of, func(k *running) {
					k.say(text)
					k.result = ""
				})
				bridged(t, u, nil, func(r *rig) {
					if g := r.do(asking{name: "asks"}); g.status != 200 || g.text != `{"jsonrpc":"2.0","id":1,`+failure {
						t.Errorf("got %d %s", g.status, g.text)
					}
				})
			})
		}
	}
}

// What is no UTF-8 is nothing that a client could be given.
func TestWhatIsNoUTF8IsNotPassedOn(t *testing.T) {
	for way, of := range map[string]kind{"streamed": {}, "whole": {whole: true}} {
		for name, result := range map[string]string{"a result": "\"result\":{\"content\":[\"\xff\"]}", "an error": "\"error\":{\"code\":-32603,\"message\":\"\xff\"}"} {
			for _, status := range []int{200, 500} {
				t.Run(fmt.Sprint(way, ", ", name, ", ", status), func(t *testing.T) {
					u := tool(of, func(k *running) {
						k.say("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"error\",\"data\":\"\xff\"}}")
						k.result, k.status = result, status
					})
					bridged(t, u, nil, func(r *rig) {
						g := r.do(asking{name: "asks", meta: `,"io.modelcontextprotocol/logLevel":"info"`})
						if g.status != 500 && g.status != 502 || !strings.Contains(g.text, `"bad_upstream_response"`) || !utf8.ValidString(strings.Join(g.all, "")) {
							t.Errorf("got %d %q", g.status, g.all)
						}
					})
				})
			}
		}
	}
}

// A list of tools that hangs is waited for once, and then by one call a minute: calls are made without it meanwhile.
func TestAListThatHangsIsWaitedForByOneCallAMinute(t *testing.T) {
	u := tool(kind{lists: `{"tools":[{"name":"asks","inputSchema":{"properties":{"who":{"type":"string","x-mcp-header":"Who"}}}}]}`}, where)
	u.faults = silentTo("tools/list")
	bridged(t, u, nil, func(r *rig) {
		call := func(want int) time.Duration {
			t.Helper()
			began := time.Now()
			if g := r.do(asking{name: "asks", params: `"arguments":{"who":"Hello"},`}); g.status != want {
				t.Errorf("got %d %s", g.status, g.text)
			}
			return time.Since(began)
		}
		if a, b, c := call(200), call(200), call(200); a < 9*time.Second || b > time.Second || c > time.Second {
			t.Errorf("calls took %v, %v and %v", a, b, c)
		}
		time.Sleep(time.Minute)
		took := make(chan time.Duration, 3)
		for range cap(took) {
			go func() { took <- call(200) }()
		}
		if a, b, c := <-took, <-took, <-took; a > time.Second || b > time.Second || c < 9*time.Second {
			t.Errorf("together they took %v, %v and %v", a, b, c)
		}
		u.faults = nil
		time.Sleep(time.Minute)
		if took := call(400); took > time.Second {
			t.Errorf("by a list that does not hang: %v", took)
		}
	})
}

// The headers that mirror arguments are judged by the server's own list, read before the first call, and before one is refused if that is a
// while ago, and corrected by each list that a client gets.
func TestMirroredArgumentsAreJudged(t *testing.T) {
	list := func(header string) string {
		return `{"tools":[{"name":"asks","inputSchema":{"properties":{"who":{"type":"string","x-mcp-header":"` + header + `"}}}}]}`
	}
	u := tool(kind{lists: list("Who")}, where)
	bridged(t, u, nil, func(r *rig) {
		call := func(header ...string) int {
			return r.do(asking{name: "asks", params: `"arguments":{"who":"Hello"},`, header: header}).status
		}
		if a, b, c := call(), call("Mcp-Param-Who", "Other"), call("Mcp-Param-Who", "=?base64?SGVsbG8=?="); a != 400 || b != 400 || c != 200 {
			t.Errorf("got %d without it, %d with another, %d with the same", a, b, c)
		}
		if n := len(r.sent("tools/list")); n != 1 {
			t.Errorf("the list was read %d times", n)
		}
		u.lists = list("Name")
		r.do(asking{method: "tools/list"})
		if a, b := call("Mcp-Param-Who", "Hello"), call("Mcp-Param-Name", "Hello"); a != 400 || b != 200 {
			t.Errorf("after another list got %d and %d", a, b)
		}
		u.lists = list("Area")
		time.Sleep(tools.ListAgain)
		if a := call("Mcp-Param-Area", "Hello"); a != 200 {
			t.Errorf("with what is listed by now got %d", a)
		}
		if r.ran() != 3 {
			t.Errorf("the tool ran %d times", r.ran())
		}
	})
	u = tool(kind{}, where) // a list that cannot be had judges nothing
	u.faults = func(w http.ResponseWriter, _ *http.Request, m message) bool {
		if m.Method == "tools/list" {
			w.WriteHeader(500)
		}
		return m.Method == "tools/list"
	}
	bridged(t, u, nil, func(r *rig) {
		if g := r.do(asking{name: "asks"}); g.status != 200 {
			t.Errorf("got %s", g.text)
		}
	})
}

// A server may list its tools to each caller otherwise. A call is refused by what its own caller is listed: not by what another one was just
// listed, nor for a tool that another one alone is listed.
func TestACallIsRefusedByItsOwnCallersList(t *testing.T) {
	u := tool(kind{}, where)
	u.faults = func(w http.ResponseWriter, req *http.Request, m message) bool {
		if m.Method != "tools/list" {
			return false
		}
		mirror := map[string]string{"alice": `,"x-mcp-header":"Who"`}[req.Header.Get("X-User")]
		listed := map[bool]string{false: `{"name":"asks","inputSchema":{"properties":{"who":{"type":"string"` + mirror + `}}}}`}[req.Header.Get("X-User") == "carol"]
		respond(w, 200, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"tools":[%s]}}`, m.ID, listed))
		return true
	}
	bridged(t, u, nil, func(r *rig) {
		call := func(user string, header ...string) int {
			return r.do(asking{name: "asks", params: `"arguments":{"who":"Hello"},`, caller: user, header: append(header, "X-User", user)}).status
		}
		for _, user := range []string{"bob", "carol"} {
			time.Sleep(tools.ListAgain)
			r.do(asking{method: "tools/list", caller: "alice", header: []string{"X-User", "alice"}})
			if got := []int{call("alice"), call(user), call("alice", "Mcp-Param-Who", "Hello"), call(user), call(user)}; !slices.Equal(got, []int{400, 200, 200, 200, 200}) {
				t.Errorf("alice without the header, %s, alice with it, and %s: got %d", user, user, got)
			}
		}
		before := len(r.sent("tools/list"))
		for range 5 {
			call("alice")
		}
		if n := len(r.sent("tools/list")) - before; n > 1 {
			t.Errorf("five calls of one caller's asked for %d lists", n)
		}
	})
}
