//go:build e2e

package integration

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// eachReach runs a test for each way to reach a server.
func eachReach(t *testing.T, test func(t *testing.T, r reach)) { eachOf(t, reaches, test) }

func eachOf(t *testing.T, all []reach, test func(t *testing.T, r reach)) {
	for _, r := range all {
		t.Run(r.name, func(t *testing.T) {
			t.Parallel()
			test(t, r)
		})
	}
}

// eachSite is eachReach with a berth, at url, before one server.
func eachSite(t *testing.T, test func(t *testing.T, site *legacySite, url string)) {
	eachReach(t, func(t *testing.T, r reach) {
		site := r.startLegacy(t, 1)
		test(t, site, site.start(t, "").url())
	})
}

func (r reach) resumes() bool { return slices.Contains(r.flags, "--event-log") }

// asksTwice is a call of that nonce, whose tool asks twice.
func asksTwice(c *askingClient, nonce string) askedCall {
	return askedCall{client: c, name: "two_questions", args: map[string]any{"nonce": nonce}}
}

func asksOnce(c *askingClient, nonce string) askedCall {
	return askedCall{client: c, name: "one_question", args: map[string]any{"nonce": nonce}}
}

// Two questions of a tool are two rounds of one call: the tool runs once.
func TestBridgedCallGoesOnThroughItsRounds(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		call := asksTwice(newAskingClient(t), "rounds")

		first := call.begin(t, url)
		second := call.goOn(t, url, first, "red")
		if !second.asks() || second.Result.RequestState == first.Result.RequestState {
			t.Fatalf("second round: got %v, want another question and another state than %v", second, first)
		}
		if last := call.goOn(t, url, second, "blue"); last.Result.ResultType != "complete" || last.said() != "rounds: red then blue" {
			t.Errorf("last round: got %v, want both answers in it", last)
		}
		site.runs.wantOnce(t, "rounds")
		site.runs.awaitOver(t, "rounds")
	})
}

// What a server asks of each new session is the first round of the first call there, which is sent
// when it is answered, whatever was done before.
func TestBridgedServerAsksAtItsStart(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		site := r.startLegacy(t, 1, "--greets")
		url := site.start(t, "").url()
		client := newAskingClient(t)
		if got, err := client.ask(t, url, "tools/list", nil); err != nil || len(got.Result.Tools) == 0 {
			t.Fatalf("tools/list: got %v, %v", got, err)
		}
		call := asksOnce(client, "greeted")
		first := call.begin(t, url)
		if kinds := first.kinds(); !slices.Equal(kinds, []string{"roots/list"}) || site.runs.count(t, "begun")["greeted"] > 0 {
			t.Fatalf("first round: got %v, want roots/list before the call", first)
		}
		second := call.goOn(t, url, first, "root")
		if last := call.goOn(t, url, second, "yes"); last.said() != "greeted: yes" {
			t.Errorf("last round: got %v, want the answer in it", last)
		}
		site.runs.wantOnce(t, "greeted")
		if next := asksOnce(client, "next").begin(t, url); !slices.Equal(next.kinds(), []string{"elicitation/create"}) {
			t.Errorf("in a session that has asked: got %v", next)
		}
	})
}

// Each kind of question has its answer in the kind's own shape, and several that are asked
// at once are one round.
func TestBridgedQuestionsOfEachKind(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		client := newAskingClient(t)
		for _, c := range []struct {
			method, name string
			kinds        []string
			want         string
		}{
			{"", "test_elicitation", []string{"elicitation/create"}, "action=accept"},
			{"", "test_sampling", []string{"sampling/createMessage"}, "LLM response: told"},
			{"", "test_input_required_result_list_roots", []string{"roots/list"}, "file:///told"},
			{
				"", "test_input_required_result_multiple_inputs",
				[]string{"elicitation/create", "roots/list", "sampling/createMessage"}, "told told, of 1 roots",
			},
			{"prompts/get", "test_input_required_result_prompt", []string{"elicitation/create"}, "Use this context: told"},
		} {
			call := askedCall{client: client, method: c.method, name: c.name}
			asked := call.begin(t, url)
			if kinds := asked.kinds(); !slices.Equal(kinds, c.kinds) {
				t.Errorf("%s: asked %v, want %v", c.name, kinds, c.kinds)
			}
			if got := call.goOn(t, url, asked, "told"); got.asks() || !strings.Contains(got.text, c.want) {
				t.Errorf("%s: got %v, want a result with %q", c.name, got, c.want)
			}
		}
	})
}

// kinds are the methods of a round's questions.
func (r round) kinds() []string {
	var kinds []string
	for _, q := range r.Result.InputRequests {
		kinds = append(kinds, q.Method)
	}
	slices.Sort(kinds)
	return kinds
}

// A resource that asks before it is read.
func TestBridgedReadThatAsks(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		url := r.startLegacy(t, 1).start(t, "").url()
		client := newAskingClient(t)
		read := map[string]any{"uri": "test://asking"}
		asked, err := client.ask(t, url, "resources/read", read)
		if err != nil || !asked.asks() {
			t.Fatalf("got %v, %v, want a question", asked, err)
		}
		read["requestState"], read["inputResponses"] = asked.Result.RequestState, answersTo(asked, "third")
		got, err := client.ask(t, url, "resources/read", read)
		if err != nil || len(got.Result.Contents) != 1 || got.Result.Contents[0].Text != "the part third" {
			t.Errorf("got %v, %v, want the third part", got, err)
		}
	})
}

// decline and cancel are answers like any other.
func TestBridgedQuestionsMayBeDeclined(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		for _, action := range []string{"decline", "cancel"} {
			call := asksOnce(newAskingClient(t), action)
			asked := call.begin(t, url)
			answers := map[string]any{}
			for key := range asked.Result.InputRequests {
				answers[key] = map[string]any{"action": action}
			}
			got, err := call.send(t, url, asked.Result.RequestState, answers)
			if err != nil || got.said() != action+": "+action {
				t.Errorf("got %v, %v, want the tool told of %s", got, err, action)
			}
			site.runs.wantOnce(t, action)
		}
	})
}

// An answer to one of two questions leaves the other one open.
func TestBridgedRoundThatAnswersInPartAsksForTheRest(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		call := askedCall{client: newAskingClient(t), name: "multi_input", args: map[string]any{"nonce": "part"}}
		asked := call.begin(t, url)
		if n := len(asked.Result.InputRequests); n != 2 {
			t.Fatalf("questions: got %d, want 2: %v", n, asked)
		}
		all := answersTo(asked, "given")
		for key := range all {
			delete(all, key)
			break
		}
		rest := call.sendWanted(t, url, asked.Result.RequestState, all)
		if !rest.asks() || len(rest.Result.InputRequests) != 1 {
			t.Fatalf("got %v, want the other question again", rest)
		}
		if got := call.goOn(t, url, rest, "given"); got.said() != "given and given" {
			t.Errorf("got %v, want both answers", got)
		}
		site.runs.wantOnce(t, "part")
	})
}

// sendWanted sends a round, which must have an answer.
func (c askedCall) sendWanted(t testing.TB, url, state string, answers map[string]any) round {
	t.Helper()
	got, err := c.send(t, url, state, answers)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return got
}

// Many calls that ask at the same time do not get each other's answers.
func TestBridgedCallsDoNotMixTheirAnswers(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		const calls = 24
		site := r.startLegacy(t, 3)
		url := site.start(t, "").url()
		client := newAskingClient(t)
		crowd(t, calls, 12, func(i int) {
			nonce, red, blue := fmt.Sprint("mixed-", i), fmt.Sprint("red-", i), fmt.Sprint("blue-", i)
			got, err := asksTwice(client, nonce).through(t, func() string { return url }, red, blue)
			if want := fmt.Sprintf("%s: %s then %s", nonce, red, blue); err != nil || got.said() != want {
				t.Errorf("got %v, %v, want %q", got, err, want)
			}
			site.runs.wantOnce(t, nonce)
		})
	})
}

// The progress of a call that asks goes to whoever has the round, ascending; of what it logs
// each request hears as much as it asked for.
func TestBridgedCallTellsItsProgressInEachRound(t *testing.T) {
	eachReach(t, func(t *testing.T, r reach) {
		url := r.startLegacy(t, 1).start(t, "").url()
		client := newAskingClient(t)
		client.meta = map[string]any{"progressToken": "mine", "io.modelcontextprotocol/logLevel": "info"}
		call := askedCall{client: client, name: "talkative"}
		first := call.begin(t, url)
		last := call.goOn(t, url, first, "yes")
		if last.said() != "went on: yes" {
			t.Errorf("got %v, want the answer in it", last)
		}
		for i, got := range []round{first, last} {
			want := []string{"notifications/message info", fmt.Sprintf("notifications/progress mine %d", i+1)}
			if told := got.told(); !slices.Equal(told, want) {
				t.Errorf("round %d: told %v, want %v", i+1, told, want)
			}
		}

		quiet := newAskingClient(t)
		if got := (askedCall{client: quiet, name: "talkative"}).begin(t, url); len(got.messages) > 0 {
			t.Errorf("without a level and a token: told %v, want nothing", got.told())
		}
	})
}

// told is what came before the answer, sorted.
func (r round) told() []string {
	var told []string
	for _, m := range r.messages {
		switch m.Method {
		case "notifications/progress":
			told = append(told, fmt.Sprint(m.Method, " ", m.Params.ProgressToken, " ", m.Params.Progress))
		case "notifications/message":
			told = append(told, m.Method+" "+m.Params.Level)
		default:
			told = append(told, m.Method)
		}
	}
	slices.Sort(told)
	return told
}

// A client that did not say it can be asked is not asked: it is told what was missing.
func TestBridgedQuestionThatWasNotDeclared(t *testing.T) {
	eachSite(t, func(t *testing.T, site *legacySite, url string) {
		for _, c := range []struct{ tool, missing string }{
			{"test_missing_capability", "sampling"},
			{"one_question", "elicitation"},
			{"test_input_required_result_list_roots", "roots"},
		} {
			client := newAskingClient(t)
			delete(client.capabilities, c.missing)
			call := askedCall{client: client, name: c.tool, args: map[string]any{"nonce": c.missing}}
			got, err := call.send(t, url, "", nil)
			if err != nil || got.status != 400 || got.Error == nil || got.Error.Code != -32021 {
				t.Errorf("%s: got %v, %v, want 400 and -32021", c.tool, got, err)
				continue
			}
			var data struct {
				Required map[string]json.RawMessage `json:"requiredCapabilities"`
			}
			if err := json.Unmarshal(got.Error.Data, &data); err != nil || data.Required[c.missing] == nil {
				t.Errorf("%s: got data %s, want it to name %s", c.tool, got.Error.Data, c.missing)
			}
			site.runs.wantOnce(t, c.missing)
			site.runs.awaitOver(t, c.missing)
		}
	})
}
