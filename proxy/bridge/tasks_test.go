package bridge_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"berth/internal/exchange"
	"berth/internal/mcp"
	"berth/internal/mcp/taskwire"
	"berth/internal/sse"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/bridge"
	"berth/proxy/bridge/tools"
)

func TestServerThatHasCoreTasksTellsOfTheExtension(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		got := r.ask("alice", knowsTasks, "server/discover", "")
		if string(got.Result.Capabilities["extensions"]) != `{"io.modelcontextprotocol/tasks":{}}` || got.Result.Capabilities["tasks"] != nil {
			t.Errorf("got %s", got.text)
		}
	})
}

// A request about a task that names none is told so, as where berth makes the tasks: the header that would mirror the name
// is not what it lacks. Of one that lacks a header it is told which.
func TestWhatARequestLacksIsNamed(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		r.make()
		for _, method := range []string{mcp.MethodGetTask, mcp.MethodUpdateTask, mcp.MethodCancelTask} {
			if got := r.ask("alice", knowsTasks, method, ""); got.Error.Code != mcp.CodeInvalidParams || !strings.Contains(got.text, "taskId is missing") {
				t.Errorf("%s without a task: got %d %s", method, got.status, got.text)
			}
			if got := r.ask("alice", knowsNone, method, ""); got.Error.Code != mcp.CodeMissingCapability {
				t.Errorf("%s of who declares no tasks: got %d %s", method, got.status, got.text)
			}
			for _, lacks := range []string{mcp.HeaderVersion, mcp.HeaderMethod, mcp.HeaderName} {
				request := r.request("alice", knowsTasks, method, `"taskId":"x",`)
				request.Header.Del(lacks)
				response, err := r.berths[0].To(r.berths[0].at).Send(t.Context(), request, 0)
				if err != nil {
					t.Fatal(err)
				}
				text, _ := io.ReadAll(response.Body)
				if response.Status != 400 || !strings.Contains(string(text), "-32020") || !strings.Contains(string(text), lacks+" is missing") {
					t.Errorf("%s without %s: got %d %s", method, lacks, response.Status, text)
				}
			}
		}
	})
}

// Which calls become tasks, the tool and the client have a say in.
func TestCallsThatBecomeTasks(t *testing.T) {
	for _, tt := range []struct {
		tool, capabilities string
		called             string // as the server saw it; "": it did not
		code               int
	}{
		{"must", knowsTasks, "must{}", 0},
		{"may", knowsTasks, "may{}", 0},
		{"never", knowsTasks, "never", 0},
		{"must", knowsNone, "", mcp.CodeMissingCapability},
		{"may", knowsNone, "may", 0},
		{"unlisted", knowsTasks, "unlisted", 0},
	} {
		t.Run(tt.tool+" "+tt.capabilities, func(t *testing.T) {
			withTasks(t, nil, func(r *taskRig) {
				got := r.ask("alice", tt.capabilities, "tools/call", fmt.Sprintf(`"name":%q,`, tt.tool))
				var want []string
				if tt.called != "" {
					want = []string{tt.called}
				}
				if got.Error.Code != tt.code || !slices.Equal(r.calls, want) {
					t.Errorf("got %d %s, and the server was called %q, want code %d and %q", got.status, got.text, r.calls, tt.code, want)
				}
			})
		})
	}
}

// A tool may say otherwise of tasks since it was listed. A server that refuses a call for its form has run nothing, so the call is sent once
// more in the other.
func TestACallFollowsWhatItsToolSaysOfTasksNow(t *testing.T) {
	for _, streams := range []bool{false, true} {
		for _, tt := range []struct {
			was, is, capabilities string
			called                string // as the server saw it; "": it did not
			tried                 int
			code                  int
		}{
			{"", "required", knowsTasks, "x{}", 2, 0},
			{"", "required", knowsNone, "", 1, mcp.CodeMissingCapability},
			{"", "", knowsTasks, "x", 1, 0},
			{"optional", "required", knowsNone, "", 1, mcp.CodeMissingCapability},
			{"optional", "", knowsTasks, "x", 2, 0},
			{"required", "", knowsTasks, "x", 2, 0},
			{"required", "", knowsNone, "x", 1, 0},
			{"required", "optional", knowsNone, "x", 1, 0},
		} {
			withTasks(t, nil, func(r *taskRig) {
				r.strict, r.streams = true, streams
				r.says("x", tt.was)
				for range r.berths {
					r.ask("alice", knowsTasks, "tools/call", `"name":"x",`)
				}
				time.Sleep(tools.ListAgain)
				r.says("x", tt.is)
				for range r.berths {
					r.calls, r.tried, r.listed = nil, 0, 0
					got := r.ask("alice", tt.capabilities, "tools/call", `"name":"x",`)
					var want []string
					if tt.called != "" {
						want = []string{tt.called}
					}
					if got.Error.Code != tt.code || !slices.Equal(r.calls, want) || r.tried != tt.tried || r.listed > 1 || strings.Contains(got.text, `"resultType":"task"`) != (tt.called == "x{}") {
						t.Errorf("%+v, streams %v: got %d %s, and the server ran %q after %d calls and %d lists", tt, streams, got.status, got.text, r.calls, r.tried, r.listed)
					}
				}
			})
		}
	}
}

// A server that refuses every form of a call is asked no more than twice for it, and its list is read once.
func TestACallThatIsRefusedInEitherFormIsRefused(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		r.ask("alice", knowsTasks, "tools/call", `"name":"may",`)
		r.strict = true
		r.says("may", "")
		r.after = map[string]string{"may": "required"}
		time.Sleep(tools.ListAgain)
		r.tried, r.listed, r.turn = 0, 0, 0
		if got := r.ask("alice", knowsTasks, "tools/call", `"name":"may",`); got.status != 200 || got.Error.Code != mcp.CodeMethodNotFound || r.tried != 2 || r.listed != 1 {
			t.Errorf("got %d %s after %d calls and %d lists", got.status, got.text, r.tried, r.listed)
		}
	})
}

// A list of tools that hangs is waited for once, and then by one call a minute, also by calls that the server refuses for their form.
func TestRefusedCallsDoNotWaitForAListThatHangs(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		call := func(want time.Duration) {
			t.Helper()
			r.turn = 0
			began := time.Now()
			if got := r.ask("alice", knowsTasks, "tools/call", `"name":"x",`); got.Error.Code != mcp.CodeMethodNotFound || time.Since(began) != want {
				t.Errorf("got %d %s after %v, want it after %v", got.status, got.text, time.Since(began), want)
			}
		}
		r.strict, r.support["x"] = true, "optional"
		r.ask("alice", knowsTasks, "tools/call", `"name":"x",`)
		r.says("x", "")
		r.hangs = true
		for range 2 {
			call(10 * time.Second)
			call(0)
			call(0)
			time.Sleep(time.Minute)
		}
	})
}

// What tools say of tasks is looked up again after a while, of a server that has tasks.
func TestWhatToolsSayOfTasksAges(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		call := func() {
			r.turn = 0
			r.ask("alice", knowsTasks, "tools/call", `"name":"may",`)
		}
		call()
		r.says("may", "")
		time.Sleep(tools.Ages - time.Second)
		call()
		time.Sleep(time.Second)
		call()
		call()
		if want := []string{"may{}", "may{}", "may", "may"}; !slices.Equal(r.calls, want) || r.listed != 2 {
			t.Errorf("the server was called %q, and listed its tools %d times, want %q and 2", r.calls, r.listed, want)
		}
	})
}

// What a task has come to is in one answer. A result is one, be it that of a failure; an error is a
// failure of the call ("Task Execution Errors").
func TestEndOfTaskIsToldInOneAnswer(t *testing.T) {
	for _, tt := range []struct{ name, status, outcome, want, holds string }{
		{"completed", "completed", `"result":{"content":[],"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"core-1"}}}`, "completed", `"result":{"resultType":"complete","content":[],"_meta":{}}`},
		{"the tool failed", "failed", `"result":{"content":[],"isError":true}`, "completed", `"result":{"resultType":"complete","content":[],"isError":true}`},
		{"the call failed", "failed", `"error":{"code":-32603,"message":"no"}`, "failed", `"error":{"code":-32603,"message":"no"}`},
		{"cancelled", "cancelled", ``, "cancelled", `"statusMessage":"so far"`},
		{"at work", "working", ``, "working", `"ttlMs":600000,"pollIntervalMs":500`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTasks(t, nil, func(r *taskRig) {
				id := r.make()
				r.becomes(tt.status, tt.outcome)
				if got := r.wantStatus(id, tt.want); !strings.Contains(got.text, tt.holds) || strings.Contains(got.text, "core-1") {
					t.Errorf("got %s, want it to hold %s, and no id of the server's", got.text, tt.holds)
				}
			})
		})
	}
}

// A failed task has a statusMessage: its server's, or else what its error says.
func TestAFailedTaskSaysWhy(t *testing.T) {
	for wordless, want := range map[bool]string{false: `"statusMessage":"so far"`, true: `"statusMessage":"no way"`} {
		withTasks(t, nil, func(r *taskRig) {
			r.wordless = wordless
			id := r.make()
			r.becomes("failed", `"error":{"code":-32603,"message":"no\nway"}`)
			if got := r.wantStatus(id, "failed"); !strings.Contains(got.text, want) {
				t.Errorf("got %s, want it to hold %s", got.text, want)
			}
		})
	}
}

// The error of a task has the code that the same error of a call has.
func TestErrorOfTaskHasTheModernCode(t *testing.T) {
	for said, want := range map[int]int{-32002: -32602, -32042: -32603, -32020: -32603, -32021: -32603, -32022: -32603, -32099: -32603, -32019: -32019, -32100: -32100, -32000: -32000, 7: 7} {
		withTasks(t, nil, func(r *taskRig) {
			id := r.make()
			r.becomes("failed", fmt.Sprintf(`"error":{"code":%d,"message":"no","data":{"a":1}}`, said))
			if got := r.wantStatus(id, "failed"); string(got.Result.Error) != fmt.Sprintf(`{"code":%d,"message":"no","data":{"a":1}}`, want) {
				t.Errorf("of %d got %s", said, got.Result.Error)
			}
		})
	}
}

func TestOutcomeThatIsNoUTF8IsNotPassedOn(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("completed", "\"result\":{\"content\":[\"\xff\"]}")
		if got := r.about("tasks/get", id); got.status != 502 || got.Error.Code != mcp.CodeInternal {
			t.Errorf("got %d %q, want 502", got.status, got.text)
		}
	})
}

// A server may ask anew with each tasks/result: its question is shown once, and its answer comes to a request that stands. What was
// answered before that showed is asked once more.
func TestQuestionThatIsAskedAnewIsShownOnce(t *testing.T) {
	for polls, answers := range map[int]int{1: 2, 5: 1} {
		t.Run(fmt.Sprint(polls, " polls before it is answered"), func(t *testing.T) {
			withTasks(t, nil, func(r *taskRig) {
				id := r.make()
				r.asksAnew = true
				r.becomes("input_required", "")
				for n := range answers {
					key := ""
					for range polls {
						got := r.wantStatus(id, "input_required")
						for shown := range got.Result.InputRequests {
							if key = cmp.Or(key, shown); key != shown || len(got.Result.InputRequests) != 1 {
								t.Fatalf("got %s, want %s alone", got.text, key)
							}
						}
					}
					if got := r.ask("alice", knowsTasks, "tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{%q:{"action":"decline"}},`, id, key)); got.Result.ResultType != "complete" {
						t.Fatalf("answer %d: got %s", n, got.text)
					}
				}
				r.wantStatus(id, "working")
				if r.asksAnew {
					t.Errorf("the server has %q, and none while it listened", r.answers)
				}
			})
		})
	}
}

// A server that tells each question once may ask the same twice: it has an answer to both.
func TestTheSameQuestionTwiceHasTwoAnswers(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		for asked := 4; asked <= 5; asked++ {
			r.becomes("input_required", "", fmt.Sprintf(taskQuestion, asked, "elicitation/create"))
			if got := r.wantStatus(id, "input_required"); len(got.Result.InputRequests) != 1 || got.Result.InputRequests["ask-4"] == nil {
				t.Fatalf("got %s, want one question", got.text)
			}
		}
		r.ask("alice", knowsTasks, "tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{"ask-4":{"action":"decline"}},`, id))
		r.wantStatus(id, "working")
		for _, asked := range []string{`"id":4,`, `"id":5,`} {
			if !slices.ContainsFunc(r.answers, func(answer string) bool { return strings.Contains(answer, asked) }) {
				t.Errorf("the server has %q, and no answer to %s", r.answers, asked)
			}
		}
	})
}

// What is asked twice at once are two questions, though it is asked anew: each has its own answer.
func TestTheSameQuestionTwiceAtOnceIsTwo(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		for _, first := range []int{4, 6} {
			r.becomes("input_required", "", fmt.Sprintf(taskQuestion, first, "elicitation/create"), fmt.Sprintf(taskQuestion, first+1, "elicitation/create"))
			if got := r.wantStatus(id, "input_required"); len(got.Result.InputRequests) != 2 || got.Result.InputRequests["ask-4"] == nil || got.Result.InputRequests["ask-5"] == nil {
				t.Fatalf("got %s, want two questions", got.text)
			}
		}
		r.ask("alice", knowsTasks, "tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{"ask-5":{"action":"decline"}},`, id))
		var answered []string
		for _, answer := range r.answers {
			answered = append(answered, string(mcp.ID([]byte(answer))))
		}
		if slices.Sort(answered); !slices.Equal(answered, []string{"5", "7"}) {
			t.Errorf("the server has answers to %q, want those to the second of each", answered)
		}
	})
}

const taskQuestion = `{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"message":"which?","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"core-1"}}}}`

// The server tells each question once. It is shown by any berth until it is answered, and never again.
func TestQuestionsOfTask(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"), fmt.Sprintf(taskQuestion, 5, "elicitation/create"))
		for range 3 {
			got := r.wantStatus(id, "input_required")
			if want := `{"method":"elicitation/create","params":{"message":"which?","requestedSchema":{"type":"object","properties":{}}}}`; len(got.Result.InputRequests) != 2 || string(got.Result.InputRequests["ask-4"]) != want {
				t.Fatalf("got %s, want two questions", got.text)
			}
		}
		answer := func(key string) said {
			return r.ask("alice", knowsTasks, "tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{%q:{"action":"decline"}},`, id, key))
		}
		if got := answer("ask-5"); got.Result.ResultType != "complete" || got.Result.TaskID != "" {
			t.Errorf("tasks/update: got %s, want an acknowledgement", got.text)
		}
		if got := r.wantStatus(id, "input_required"); len(got.Result.InputRequests) != 1 || got.Result.InputRequests["ask-4"] == nil {
			t.Errorf("got %s, want the question that is open", got.text)
		}
		answer("ask-5")
		answer("ask-4")
		r.wantStatus(id, "working") // the server has not taken the answers in yet
		want := []string{
			`{"jsonrpc":"2.0","id":5,"result":{"action":"decline","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"core-1"}}}}`,
			`{"jsonrpc":"2.0","id":4,"result":{"action":"decline","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"core-1"}}}}`,
		}
		if !slices.Equal(r.answers, want) {
			t.Errorf("the server was told %q, want %q", r.answers, want)
		}
		if len(r.listening) > 0 {
			t.Errorf("%d requests of berth's listen still, and would take the next question away", len(r.listening))
		}
	})
}

// A question that the server withdraws where it tells the next one is shown no more, at any berth, also if that is the last one. One that is
// asked anew, under another id, stays.
func TestQuestionOfTaskIsWithdrawn(t *testing.T) {
	const withdrawn = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"))
		r.wantStatus(id, "input_required")
		r.becomes("input_required", "", withdrawn, strings.Replace(fmt.Sprintf(taskQuestion, 5, "elicitation/create"), "which?", "and?", 1))
		for range 3 {
			if got := r.wantStatus(id, "input_required"); len(got.Result.InputRequests) != 1 || got.Result.InputRequests["ask-5"] == nil {
				t.Errorf("got %s, want the second question alone", got.text)
			}
		}
		r.ask("alice", knowsTasks, "tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{"ask-4":{"action":"decline"}},`, id))
		if len(r.answers) != 0 {
			t.Errorf("the server was told %q", r.answers)
		}
	})
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"))
		r.wantStatus(id, "input_required")
		r.becomes("input_required", "", withdrawn)
		r.wantStatus(id, "working")
	})
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"))
		r.wantStatus(id, "input_required")
		r.becomes("input_required", "", withdrawn, fmt.Sprintf(taskQuestion, 5, "elicitation/create"))
		if got := r.wantStatus(id, "input_required"); len(got.Result.InputRequests) != 1 || got.Result.InputRequests["ask-4"] == nil {
			t.Errorf("got %s, want the question that is asked anew", got.text)
		}
	})
}

// One that is withdrawn and asked again under the same id, on the same stream, stands.
func TestQuestionOfTaskIsAskedAgain(t *testing.T) {
	const withdrawn = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":4}}`
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"))
		r.wantStatus(id, "input_required")
		for range 3 {
			r.becomes("input_required", "", withdrawn, fmt.Sprintf(taskQuestion, 4, "elicitation/create"))
			r.wantStatus(id, "input_required")
		}
	})
}

func TestQuestionThatItsClientHasNotDeclaredIsRefused(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "sampling/createMessage"))
		r.wantStatus(id, "working")
		if len(r.answers) != 1 || !strings.Contains(r.answers[0], `"code":-32601`) {
			t.Errorf("the server was told %q, want a refusal", r.answers)
		}
	})
}

func TestWhoMayNotKnowOfTask(t *testing.T) {
	for _, tt := range []struct {
		name, caller, capabilities string
		status, code               int
	}{
		{"another caller", "bob", knowsTasks, 200, mcp.CodeInvalidParams},
		{"without the extension", "alice", knowsNone, 400, mcp.CodeMissingCapability},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTasks(t, nil, func(r *taskRig) {
				id := r.make()
				for _, method := range []string{"tasks/get", "tasks/cancel", "tasks/update"} {
					got := r.ask(tt.caller, tt.capabilities, method, fmt.Sprintf(`"taskId":%q,"inputResponses":{},`, id))
					if got.status != tt.status || got.Error.Code != tt.code {
						t.Errorf("%s: got %d %s, want %d with %d", method, got.status, got.text, tt.status, tt.code)
					}
				}
				r.wantStatus(id, "working")
			})
		})
	}
}

func TestTaskIsCancelled(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		for range 2 {
			if got := r.about("tasks/cancel", id); got.Result.ResultType != "complete" || got.Result.TaskID != "" {
				t.Errorf("tasks/cancel: got %s, want an acknowledgement", got.text)
			}
		}
		r.wantStatus(id, "cancelled")
	})
}

// A task whose server does not say when it was created was when its id was made, however often that is asked.
func TestTaskIsCreatedOnce(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		r.timeless = true
		made := time.Now()
		id := r.make()
		for range 3 {
			time.Sleep(time.Second)
			if got := r.wantStatus(id, "working"); !strings.Contains(got.text, string(taskwire.AppendMillis([]byte(`"createdAt":"`), made))) {
				t.Errorf("got %s, want it to be created at %v", got.text, made)
			}
		}
	})
}

// A server is asked for no more than it says that it has.
func TestServerThatCancelsNoTasksIsNotAskedTo(t *testing.T) {
	withTasks(t, func(o *bridge.Options) { o.TaskID = 39 }, func(r *taskRig) {
		r.keeps, r.berths = true, r.berths[:1]
		id := r.make()
		if got := r.about("tasks/cancel", id); got.Result.ResultType != "complete" {
			t.Errorf("tasks/cancel: got %s, want an acknowledgement", got.text)
		}
		r.wantStatus(id, "working")
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
		r.ask("alice", knowsTasks, "tools/call", `"name":"must",`) // it cannot be handed out
		synctest.Wait()
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.coreServer.status != "working" {
			t.Errorf("the server's task is %s, want working", r.coreServer.status)
		}
	})
}

// An id that would be too long stands for one in the store.
func TestIDsOfTasksAreBounded(t *testing.T) {
	withTasks(t, func(o *bridge.Options) { o.TaskID = 39 }, func(r *taskRig) {
		id := r.make()
		if len(id) > 39 {
			t.Errorf("got an id of %d bytes", len(id))
		}
		r.wantStatus(id, "working")
		if got := r.ask("bob", knowsTasks, "tasks/get", fmt.Sprintf(`"taskId":%q,`, id)); got.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("another caller: got %s", got.text)
		}
		if got := r.about("tasks/get", "task.nobody-made-this"); got.Error.Code != mcp.CodeInvalidParams {
			t.Errorf("unknown: got %s", got.text)
		}
	})
}

// What an id lets its server ask is packed where there is no room for it as it is: berths up to 0.10.1 do not read what is packed.
func TestIDsOfTasksArePackedWhereTheyHaveTo(t *testing.T) {
	long := 0
	withTasks(t, func(o *bridge.Options) { o.TaskID = 256 }, func(r *taskRig) { long = len(r.make()) })
	withTasks(t, func(o *bridge.Options) { o.TaskID = long - 1 }, func(r *taskRig) {
		id := r.make()
		if len(id) >= long || strings.HasPrefix(id, "task.") {
			t.Errorf("got %s, want one that stands for itself in less than %d bytes", id, long)
		}
		r.wantStatus(id, "working")
	})
}

// A session stays open while a task of it lives, and not for longer than that does.
func TestSessionIsKeptForItsTask(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after func(r *taskRig, id string)
		ended int
	}{
		{"the task lives", func(r *taskRig, id string) { time.Sleep(5 * time.Minute) }, 0},
		{"the task has ended", func(r *taskRig, id string) {
			r.becomes("cancelled", "")
			r.wantStatus(id, "cancelled")
			time.Sleep(5 * time.Minute)
		}, 1},
		{"the task has expired", func(r *taskRig, id string) { time.Sleep(15 * time.Minute) }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			withTasks(t, func(o *bridge.Options) { o.Idle = time.Minute }, func(r *taskRig) {
				r.berths = r.berths[:1]
				ctx, stop := context.WithCancel(r.t.Context())
				done := make(chan error, 1)
				go func() { done <- r.berths[0].Run(ctx) }()
				defer func() { stop(); <-done }()
				id := r.make()
				tt.after(r, id)
				r.mu.Lock()
				ended := r.ended
				r.mu.Unlock()
				if ended != tt.ended {
					t.Errorf("%d sessions were ended, want %d", ended, tt.ended)
				}
			})
		})
	}
}

// A subscription is told of what its task comes to, and of what it asks.
func TestSubscriptionToTask(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		if got := r.ask("alice", knowsNone, "subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q]},`, id)); got.status != 400 || got.Error.Code != mcp.CodeMissingCapability {
			t.Errorf("without the extension: got %d %s", got.status, got.text)
		}
		stream := r.send(r.berths[0], "alice", knowsTasks, "subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q,"nobodys"]},`, id))
		defer stream.Body.Close()
		events := sse.NewReader(stream.Body, mcp.MaxPeek)
		next := func() string {
			t.Helper()
			event, err := events.Next()
			if err != nil {
				t.Fatal(err)
			}
			return string(event.Data)
		}
		if got := next(); !strings.Contains(got, fmt.Sprintf(`"taskIds":[%q]`, id)) {
			t.Errorf("acknowledged: got %s", got)
		}
		wants := func(words ...string) {
			t.Helper()
			got := next()
			for _, word := range append(words, `"method":"notifications/tasks"`, id, `"io.modelcontextprotocol/subscriptionId":7`) {
				if !strings.Contains(got, word) {
					t.Errorf("got %s, want %s in it", got, word)
				}
			}
		}
		wants(`"status":"working"`)
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"))
		wants(`"status":"input_required"`, `"ask-4"`)
		r.becomes("completed", `"result":{"content":[]}`)
		wants(`"status":"completed"`, `"content":[]`)
	})
}

// A task whose id cannot be stored is nobody's: the server gives it up.
func TestTaskThatCannotBeHandedOutIsGivenUp(t *testing.T) {
	withTasks(t, func(o *bridge.Options) { o.TaskID = 39 }, func(r *taskRig) {
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
		if got := r.ask("alice", knowsTasks, "tools/call", `"name":"must",`); got.status != 503 || got.Error.Code != mcp.CodeUnavailable {
			t.Errorf("got %d %s, want -31503", got.status, got.text)
		}
		synctest.Wait()
		r.mu.Lock()
		status := r.coreServer.status
		r.mu.Unlock()
		if status != "cancelled" {
			t.Errorf("the server's task is %s, want cancelled", status)
		}
	})
}

// While berth cannot note what a server tells once, it does not have it told.
func TestQuestionsAreNotTakenWhileTheStoreIsAway(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"))
		if err := r.store.Close(); err != nil {
			t.Fatal(err)
		}
		if got := r.about("tasks/get", id); got.status != 503 || got.Error.Code != mcp.CodeUnavailable {
			t.Errorf("got %d %s, want -31503", got.status, got.text)
		}
		if len(r.queue) != 1 {
			t.Errorf("%d questions wait at the server, want 1", len(r.queue))
		}
	})
}

// unwritten is a store that takes no writes while it is full, and can be emptied.
type unwritten struct {
	*storage.Store

	full atomic.Bool
	keys sync.Map
}

func (u *unwritten) PutIfAbsent(ctx context.Context, key string, value []byte, ttl time.Duration) (storage.Record, bool, error) {
	if u.full.Load() {
		return storage.Record{}, false, storage.ErrFull
	}
	u.keys.Store(key, true)
	return u.Store.PutIfAbsent(ctx, key, value, ttl)
}

func (u *unwritten) Swap(ctx context.Context, key string, version uint64, value []byte, ttl time.Duration) (storage.Record, error) {
	if u.full.Load() {
		return storage.Record{}, storage.ErrFull
	}
	return u.Store.Swap(ctx, key, version, value, ttl)
}

func (u *unwritten) flush(t *testing.T) {
	u.keys.Range(func(key, _ any) bool {
		if err := u.Delete(t.Context(), key.(string)); err != nil {
			t.Error(err)
		}
		return true
	})
}

// A server tells a question once: the berth that has heard it keeps it for as long as the store does not take it, and when that has lost it.
func TestAQuestionOutlivesAStoreThatDoesNotTakeIt(t *testing.T) {
	store := new(unwritten)
	withTasks(t, func(o *bridge.Options) {
		store.Store = o.Store.(*storage.Store)
		o.Store = store
	}, func(r *taskRig) {
		id := r.make()
		r.becomes("input_required", "", fmt.Sprintf(taskQuestion, 4, "elicitation/create"), fmt.Sprintf(taskQuestion, 5, "elicitation/create"))
		both := func(when, here, there string) {
			t.Helper()
			for _, want := range []string{here, there} {
				if got := r.about("tasks/get", id); got.Result.Status != want {
					t.Errorf("%s: got %s, want %s", when, got.text, want)
				}
			}
		}
		store.full.Store(true)
		both("while it takes nothing", "input_required", "working")
		store.full.Store(false)
		both("when it does again", "input_required", "input_required")
		store.flush(t)
		both("when it was emptied", "input_required", "input_required")
		store.full.Store(true)
		for _, key := range []string{"ask-4", "ask-5"} {
			got := r.ask("alice", knowsTasks, "tasks/update", fmt.Sprintf(`"taskId":%q,"inputResponses":{%q:{"action":"decline"}},`, id, key))
			if got.Result.ResultType != "complete" {
				t.Errorf("an answer: got %s", got.text)
			}
		}
		store.full.Store(false)
		r.about("tasks/get", id)
		r.about("tasks/get", id) // each tells the store what it knows
		both("once each is answered at another berth", "working", "working")
		if len(r.answers) != 2 || strings.Contains(fmt.Sprint(r.answers), "error") {
			t.Errorf("the server was told %q", r.answers)
		}
	})
}

// The modern era has no streams and no ends of sessions to ask for.
func TestOnlyPostIsBridged(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		for _, method := range []string{wire.MethodGet, wire.MethodDelete} {
			out := &exchange.Request{Method: method, URL: r.berths[0].at.URL, Header: wire.NewHeader(mcp.HeaderVersion, "2026-07-28")}
			response, err := r.berths[0].To(r.berths[0].at).Send(t.Context(), out, 0)
			if err != nil {
				t.Fatal(err)
			}
			response.Body.Close()
			if response.Status != wire.StatusMethodNotAllowed || response.Header.Get("Allow") != "POST" {
				t.Errorf("%s: got %d, Allow %q", method, response.Status, response.Header.Get("Allow"))
			}
		}
	})
}

// A subscription whose credentials the server takes no more ends, so that its client opens it anew with others.
func TestSubscriptionWhoseCredentialsExpireEnds(t *testing.T) {
	withTasks(t, nil, func(r *taskRig) {
		id := r.make()
		stream := r.send(r.berths[0], "alice", knowsTasks, "subscriptions/listen", fmt.Sprintf(`"notifications":{"taskIds":[%q]},`, id))
		defer stream.Body.Close()
		time.AfterFunc(5*time.Second, func() {
			r.mu.Lock()
			defer r.mu.Unlock()
			r.expired = true
		})
		giveUp := time.AfterFunc(time.Hour, func() { stream.Body.Close() })
		defer giveUp.Stop()
		_, err := io.ReadAll(stream.Body)
		if stood := giveUp.Stop(); err != nil || !stood {
			t.Errorf("it stood for an hour, and ended with %v", err)
		}
	})
}
