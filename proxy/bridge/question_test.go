package bridge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/proxy/bridge/rounds"
)

// tool is an upstream with one tool, which is called "asks".
func tool(of kind, run func(k *running)) *upstream {
	return &upstream{kind: of, tools: map[string]func(*running){"asks": run}}
}

// ran is how often a tool ran.
func (r *rig) ran() int { return len(r.sent("tools/call")) }

// What the server asks ends the request, its client's answer reaches the call that asked, and the
// tool runs once.
func TestAQuestionIsAnsweredInMidCall(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) { k.ends(k.ask()) })
			bridged(t, u, nil, func(r *rig) {
				first := r.do(asking{name: "asks"})
				if first.status != 200 || first.Result.Type != "input_required" || first.Result.State == "" || len(first.Result.Requests) != 1 {
					r.t.Fatalf("got %d %s", first.status, first.text)
				}
				for key, q := range first.Result.Requests {
					if q.Method != "elicitation/create" || string(q.Params) != formAsk {
						t.Errorf("%s is %s of %s", key, q.Params, q.Method)
					}
				}
				last := r.do(asking{name: "asks", id: `"x"`, params: first.answers(accepted)})
				if want := `{"jsonrpc":"2.0","id":"x","result":{"resultType":"complete","got":[` + accepted + `]}}`; last.status != 200 || last.text != want {
					t.Errorf("got %d %s", last.status, last.text)
				}
				if r.ran() != 1 {
					t.Errorf("the tool ran %d times", r.ran())
				}
			})
		})
	}
}

// A round is what is open: what is asked at the same time, and what of that has no answer yet.
func TestSeveralQuestionsAreOneRound(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) {
				form, _, a := k.question("elicitation/create", formAsk)
				sample, _, b := k.question("sampling/createMessage", sampleAsk)
				k.say(form)
				time.Sleep(20 * time.Millisecond)
				k.say(sample)
				k.ends(k.wait(a), k.wait(b), k.ask())
			})
			bridged(t, u, nil, func(r *rig) {
				round := r.do(asking{name: "asks"})
				if len(round.Result.Requests) != 2 {
					r.t.Fatalf("got %s", round.text)
				}
				part := r.do(asking{name: "asks", params: round.with(`"ask-1":{"role":"assistant"},"other":5`)})
				if q, left := part.Result.Requests["ask-0"]; !left || len(part.Result.Requests) != 1 || string(q.Params) != formAsk {
					r.t.Fatalf("got %s", part.text)
				}
				next := r.do(asking{name: "asks", params: part.answers(accepted)})
				if _, asked := next.Result.Requests["ask-2"]; !asked || len(next.Result.Requests) != 1 {
					r.t.Fatalf("got %s", next.text)
				}
				last := r.do(asking{name: "asks", params: next.answers(`{"action":"decline"}`)})
				if want := `"got":[` + accepted + `,{"role":"assistant"},{"action":"decline"}]`; !strings.Contains(last.text, want) {
					t.Errorf("got %s", last.text)
				}
				if r.ran() != 1 || len(r.sent("answer")) != 3 {
					t.Errorf("the tool ran %d times, and got %v", r.ran(), r.told())
				}
			})
		})
	}
}

// A server that does not want to know any more takes its question out of the round.
func TestAQuestionIsWithdrawn(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		one, id, _ := k.question("elicitation/create", formAsk)
		two, _, answer := k.question("elicitation/create", formAsk)
		k.say(one)
		if strings.Contains(k.body, `"both":true`) {
			k.say(two)
		}
		k.say(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":` + id + `}}`)
		if strings.Contains(k.body, `"both":true`) {
			k.ends(k.wait(answer))
		}
	})
	bridged(t, u, nil, func(r *rig) {
		if alone := r.do(asking{name: "asks"}); alone.Result.Type != "complete" {
			t.Errorf("got %s", alone.text)
		}
		round := r.do(asking{name: "asks", params: `"both":true,`})
		if len(round.Result.Requests) != 1 {
			r.t.Fatalf("got %s", round.text)
		}
		if last := r.do(asking{name: "asks", params: `"both":true,` + round.answers(accepted)}); len(last.Result.Got) != 1 {
			t.Errorf("got %s", last.text)
		}
	})
}

// A stream that is resumed may bear a question once more: it is none.
func TestAQuestionThatComesOnceMoreIsNone(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		text, _, answer := k.question("elicitation/create", formAsk)
		k.say(text)
		k.say(text)
		m := k.wait(answer)
		k.say(text)
		time.Sleep(time.Second)
		k.ends(m)
	})
	bridged(t, u, nil, func(r *rig) {
		first := r.do(asking{name: "asks"})
		last := r.do(asking{name: "asks", params: first.answers(accepted)})
		if strings.Count(first.text, `"ask-0"`) != 1 || len(last.Result.Got) != 1 {
			t.Errorf("got %s, then %s", first.text, last.text)
		}
	})
}

// A server that asks new sessions for roots, whatever was declared, may ask late: a call that fails meanwhile
// fails by itself. What it asks once more, or on a call's own stream, is of the call, as is all of a server that does not ask so.
func TestALateEarlyQuestionIsNotOfTheCallThatFails(t *testing.T) {
	fails := func(r *rig, caller string) (byItself bool) {
		r.t.Helper()
		got := r.do(asking{name: "asks", declares: declaresForm, caller: caller})
		if byItself = got.status == 200 && strings.Contains(got.text, `"isError":true`); !byItself && (got.Error == nil || got.Error.Code != -32021) {
			r.t.Errorf("got %d %s", got.status, got.text)
		}
		return byItself
	}
	for where, say := range map[string]func(k *running, text string){"aside": (*running).aside, "in the call": (*running).say} {
		for _, first := range []string{"roots/list", ""} {
			u := tool(kind{asks: first}, func(k *running) {
				text, _, answer := k.question("roots/list", "{}")
				say(k, text)
				k.wait(answer)
				k.result = `"result":{"isError":true,"content":[]}`
			})
			bridged(t, u, nil, func(r *rig) {
				for range 2 {
					if fails(r, "first") {
						t.Errorf("%s, of one that asks for %q at first: it fails by itself", where, first)
					}
				}
				u.mu.Lock()
				u.kind.asks = "" // in the next session it asks late
				u.mu.Unlock()
				for i, want := range []bool{where == "aside" && first != "", false} {
					if got := fails(r, "next"); got != want {
						t.Errorf("%s, of one that asks for %q at first, call %d: it fails by itself: %v", where, first, i, got)
					}
				}
			})
		}
	}
}

// A server that nobody knows has the time to show that it asks so, once.
func TestAnUnknownServerHasTheTimeToAskEarly(t *testing.T) {
	for _, first := range []bool{true, false} {
		u := tool(kind{}, func(k *running) {
			time.Sleep(time.Second)
			k.result = `"result":{"isError":true,"content":[]}`
		})
		bridged(t, u, nil, func(r *rig) {
			if first {
				time.AfterFunc(earlyTime/2, func() { r.say(`{"jsonrpc":"2.0","id":"first","method":"roots/list"}`) })
			}
			for caller, want := range []time.Duration{time.Second + earlyTime, time.Second} {
				began := time.Now()
				got := r.do(asking{name: "asks", declares: declaresForm, caller: strconv.Itoa(caller)})
				if took := time.Since(began); !strings.Contains(got.text, `"isError":true`) || took != want {
					t.Errorf("asks early: %v, session %d: got %s after %v, want it after %v", first, caller, got.text, took, want)
				}
			}
		})
	}
}

// What a client has not declared to answer is refused in its place, and named if the call then fails.
func TestWhatAClientDidNotDeclareIsRefused(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		text, _, answer := k.question("sampling/createMessage", sampleAsk)
		k.say(text)
		k.ends(k.wait(answer))
		if strings.Contains(k.body, `"fails":true`) {
			k.result = `"result":{"isError":true,"content":[]}`
		}
	})
	for _, declares := range []string{declaresForm, declaresNone} {
		bridged(t, u, nil, func(r *rig) {
			well := r.do(asking{name: "asks", declares: declares})
			if well.Result.Type != "complete" || !strings.Contains(well.text, `"got":[{"code":-32601`) {
				t.Errorf("got %s", well.text)
			}
			failed := r.do(asking{name: "asks", declares: declares, params: `"fails":true,`})
			if failed.status != 400 || failed.Error == nil || failed.Error.Code != -32021 || string(failed.Error.Data) != `{"requiredCapabilities":{"sampling":{}}}` {
				t.Errorf("got %d %s", failed.status, failed.text)
			}
		})
	}
	bridged(t, u, nil, func(r *rig) { // nobody lacks anything
		round := r.do(asking{name: "asks", params: `"fails":true,`})
		failed := r.do(asking{name: "asks", params: `"fails":true,` + round.answers(`{"role":"assistant"}`)})
		if failed.status != 200 || failed.Result.Type != "complete" || !strings.Contains(failed.text, `"isError":true`) {
			t.Errorf("got %d %s", failed.status, failed.text)
		}
	})
}

// All of it is named, be it several modes of one capability.
func TestAllThatAClientDidNotDeclareIsNamed(t *testing.T) {
	const urlAsk, toolsAsk = `{"mode":"url","message":"m","url":"https://x/","elicitationId":"e"}`, `{"messages":[],"maxTokens":1,"tools":[]}`
	type question struct{ method, params string }
	form, url := question{"elicitation/create", formAsk}, question{"elicitation/create", urlAsk}
	sample, withTools := question{"sampling/createMessage", sampleAsk}, question{"sampling/createMessage", toolsAsk}
	for _, tc := range []struct {
		asks []question
		want string
	}{
		{[]question{form, url}, `{"elicitation":{"form":{},"url":{}}}`},
		{[]question{url, form}, `{"elicitation":{"form":{},"url":{}}}`},
		{[]question{sample, withTools}, `{"sampling":{"tools":{}}}`},
		{[]question{withTools, sample, form}, `{"elicitation":{"form":{}},"sampling":{"tools":{}}}`},
	} {
		u := tool(kind{}, func(k *running) {
			for _, q := range tc.asks {
				text, _, answer := k.question(q.method, q.params)
				k.say(text)
				k.wait(answer)
			}
			k.result = `"result":{"isError":true,"content":[]}`
		})
		bridged(t, u, nil, func(r *rig) {
			if g := r.do(asking{name: "asks", declares: declaresNone}); g.status != 400 || g.Error == nil || string(g.Error.Data) != `{"requiredCapabilities":`+tc.want+`}` {
				t.Errorf("got %d %s, want %s", g.status, g.text, tc.want)
			}
		})
	}
}

// It is named if the call fails in a later round.
func TestWhatWasNotDeclaredIsNamedInALaterRound(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) {
				text, _, answer := k.question("sampling/createMessage", sampleAsk)
				k.say(text)
				k.wait(answer)
				k.ask()
				k.ask()
				k.result = `"result":{"isError":true,"content":[]}`
			})
			bridged(t, u, nil, func(r *rig) {
				g := r.do(asking{name: "asks", declares: declaresForm})
				for range 2 {
					g = r.do(asking{name: "asks", declares: declaresForm, params: g.with("")}) // it brings no answer
					g = r.do(asking{name: "asks", declares: declaresForm, params: g.answers(accepted)})
				}
				if g.status != 400 || g.Error == nil || g.Error.Code != -32021 || string(g.Error.Data) != `{"requiredCapabilities":{"sampling":{}}}` {
					t.Errorf("got %d %s", g.status, g.text)
				}
			})
		})
	}
}

// Who comes back without the capability that a question takes is told so, and not asked it; the call waits on.
func TestARetryIsNotAskedWhatItsClientDoesNotDeclare(t *testing.T) {
	kinds := map[string]*upstream{"before the call": {tools: map[string]func(*running){"asks": func(k *running) {
		if len(k.u.sent("tools/call")) == 1 {
			k.result = `"error":{"code":-32042,"message":"x","data":{"elicitations":[{"mode":"url","elicitationId":"e","url":"https://x/","message":"m"}]}}`
		}
	}}}}
	for name, of := range bothKinds {
		kinds[name] = tool(of, func(k *running) { k.ends(k.ask()) })
	}
	for name, u := range kinds {
		bridged(t, u, nil, func(r *rig) {
			declares, mode := declaresForm, "form"
			if name == "before the call" {
				declares, mode = `{"elicitation":{"url":{}}}`, "url"
			}
			round := r.do(asking{name: "asks", declares: declares})
			for range 2 {
				g := r.do(asking{name: "asks", declares: declaresNone, params: round.with("")})
				if g.status != 400 || g.Error == nil || g.Error.Code != -32021 || string(g.Error.Data) != `{"requiredCapabilities":{"elicitation":{"`+mode+`":{}}}}` {
					t.Errorf("%s: got %d %s", name, g.status, g.text)
				}
			}
			if again := r.do(asking{name: "asks", declares: declares, params: round.with("")}); len(again.Result.Requests) != 1 {
				t.Errorf("%s: who declares it got %d %s", name, again.status, again.text)
			}
			if last := r.do(asking{name: "asks", declares: declares, params: round.answers(accepted)}); last.Result.Type != "complete" {
				t.Errorf("%s: got %d %s in the end", name, last.status, last.text)
			}
		})
	}
}

// Who asks once more what a round has come to gets the same, and nothing happens twice.
func TestARoundIsAnsweredTwice(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) { k.ends(k.ask(), k.ask()) })
			bridged(t, u, nil, func(r *rig) {
				first := r.do(asking{name: "asks"})
				second := r.do(asking{name: "asks", params: first.answers(accepted)})
				again := r.do(asking{name: "asks", id: "2", params: first.answers(`{"action":"cancel"}`)})
				if second.Result.State == "" || again.Result.State != second.Result.State || !strings.Contains(again.text, `"id":2`) {
					r.t.Fatalf("got %s\nand %s", second.text, again.text)
				}
				for range 2 {
					if last := r.do(asking{name: "asks", params: second.answers(accepted)}); !strings.Contains(last.text, `"got":[`+accepted+`,`+accepted+`]`) {
						t.Errorf("got %s", last.text)
					}
				}
				if told := r.told(); r.ran() != 1 || len(told) != 2 {
					t.Errorf("the tool ran %d times, and got %v", r.ran(), told)
				}
			})
		})
	}
}

// Two at once take turns.
func TestARoundIsAnsweredTwiceAtOnce(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		answer := k.ask()
		time.Sleep(time.Second)
		k.ends(answer)
	})
	bridged(t, u, nil, func(r *rig) {
		first := r.do(asking{name: "asks"})
		all := make(chan got)
		for range 2 {
			go func() { all <- r.do(asking{name: "asks", params: first.answers(accepted)}) }()
		}
		one, two := <-all, <-all
		if one.text != two.text || len(one.Result.Got) != 1 || r.ran() != 1 || len(r.sent("answer")) != 1 {
			t.Errorf("got %s\nand %s, told %v", one.text, two.text, r.told())
		}
	})
}

// prompts/get and resources/read may be asked as well; what comes without a question is as it was.
func TestOtherMethodsAreAsked(t *testing.T) {
	u := &upstream{tools: map[string]func(*running){
		"p":      func(k *running) { k.ends(k.ask()) },
		"file:x": func(k *running) { k.ends(k.ask()) },
	}}
	bridged(t, u, nil, func(r *rig) {
		for method, name := range map[string]string{"prompts/get": "p", "resources/read": "file:x"} {
			first := r.do(asking{method: method, name: name})
			last := r.do(asking{method: method, name: name, params: first.answers(accepted)})
			if first.Result.Type != "input_required" || len(last.Result.Got) != 1 {
				t.Errorf("%s: got %s, then %s", method, first.text, last.text)
			}
			if cached := strings.Contains(last.text, `"ttlMs":0`); cached != (method == "resources/read") {
				t.Errorf("%s: got %s", method, last.text)
			}
		}
		// Answers to what nobody has asked are none: the call is a first one.
		plain := r.do(asking{method: "prompts/get", name: "p", params: `"inputResponses":{"x":{}},`})
		if plain.Result.Type != "input_required" {
			t.Errorf("got %s", plain.text)
		}
	})
}

// No round is larger than clients take.
func TestARoundIsBounded(t *testing.T) {
	const n = 70
	u := tool(kind{}, func(k *running) {
		var all []chan message
		for range n {
			text, _, answer := k.question("elicitation/create", formAsk)
			all = append(all, answer)
			k.say(text)
		}
		for _, answer := range all {
			k.wait(answer)
		}
	})
	bridged(t, u, nil, func(r *rig) {
		var rounds []int
		g := r.do(asking{name: "asks"})
		for g.Result.Type == "input_required" && len(rounds) < n {
			rounds = append(rounds, len(g.Result.Requests))
			g = r.do(asking{name: "asks", params: g.answers(accepted)})
		}
		if g.Result.Type != "complete" || len(rounds) < 2 || slices.Max(rounds) > 64 {
			t.Errorf("got %s after rounds of %v", g.text, rounds)
		}
	})
}

// A question that its call leaves behind, and nobody was shown, is refused: no user has dismissed it.
func TestACallEndsBeforeItsQuestionIsAsked(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		text, _, _ := k.question("elicitation/create", formAsk)
		k.say(text)
		where(k)
	})
	bridged(t, u, nil, func(r *rig) {
		if g := r.do(asking{name: "asks"}); g.Result.Type != "complete" {
			t.Errorf("got %s", g.text)
		}
		if told := r.told(); len(told) != 1 || !strings.Contains(told[0], `"id":0,"error":{"code":-32603`) {
			t.Errorf("told %v", told)
		}
	})
}

// What is no question for a client is answered in its place, and shown to nobody.
func TestWhatIsNoQuestionIsNotShown(t *testing.T) {
	for name, tc := range map[string]struct{ method, params, refusal string }{
		"of no method":              {"foo/bar", `{"secret":1}`, "-32601"},
		"that nobody can read":      {"elicitation/create", `{"secret":1}`, "-32602"},
		"in a mode that is not one": {"elicitation/create", `{"mode":"future","message":"m","requestedSchema":{}}`, "-32602"},
	} {
		t.Run(name, func(t *testing.T) {
			u := tool(kind{}, func(k *running) {
				text, _, answer := k.question(tc.method, tc.params)
				k.say(text)
				k.ends(k.wait(answer))
			})
			bridged(t, u, nil, func(r *rig) {
				got := r.do(asking{name: "asks"})
				if got.Result.Type != "complete" {
					t.Errorf("got %s", got.text)
				}
				if told := r.told(); len(told) != 1 || !strings.Contains(told[0], tc.refusal) {
					t.Errorf("told %v", told)
				}
			})
		})
	}
}

// What answers no question is told to who brings it, and to nobody else: the question stays open.
func TestWhatIsNoAnswerIsRefused(t *testing.T) {
	for name, of := range bothKinds {
		t.Run(name, func(t *testing.T) {
			u := tool(of, func(k *running) { k.ends(k.ask()) })
			bridged(t, u, nil, func(r *rig) {
				round := r.do(asking{name: "asks"})
				for _, given := range []string{round.with(`"ask-0":null`), round.with(`"ask-0":{"result":{"action":"accept"}}`), fmt.Sprintf(`"inputResponses":null,"requestState":%q,`, round.Result.State)} {
					if got := r.do(asking{name: "asks", params: given}); got.status != 200 || got.Error == nil || got.Error.Code != -32602 {
						t.Errorf("%s: got %d %s", given, got.status, got.text)
					}
				}
				if told := r.told(); len(told) != 0 {
					t.Errorf("the server was told %v", told)
				}
				if again := r.do(asking{name: "asks", params: fmt.Sprintf(`"requestState":%q,`, round.Result.State)}); len(again.Result.Requests) != 1 {
					t.Errorf("without an answer: got %s", again.text)
				}
				if last := r.do(asking{name: "asks", params: round.answers(accepted)}); last.Result.Type != "complete" || len(last.Result.Got) != 1 || r.ran() != 1 {
					t.Errorf("got %s", last.text)
				}
			})
		})
	}
}

// What a server has asked on a stream that breaks off before the client could be asked is refused: no tool waits for what nobody will answer.
func TestAQuestionIsRefusedWhoseStreamBreaksOff(t *testing.T) {
	u := tool(kind{plain: true}, func(k *running) {
		text, _, answer := k.question("elicitation/create", formAsk)
		k.say(text)
		k.progress(1)
		time.Sleep(rounds.Together / 2)
		k.breakOff()
		k.ends(k.wait(answer))
	})
	bridged(t, u, nil, func(r *rig) {
		g := r.do(asking{name: "asks", meta: `,"progressToken":1`})
		time.Sleep(time.Second)
		if told := r.sent("answer"); g.Error == nil || len(told) != 1 || !strings.Contains(told[0].body, `"error":{"code":-32603`) {
			t.Errorf("got %s, the server was told %v", g.text, told)
		}
		if len(g.all) != 2 || !strings.Contains(g.all[0], `"progress":1`) {
			t.Errorf("the client was told %v", g.all)
		}
	})
}

// What a client carries stays small however long a question is, which is answered with all others then: its retry is one body.
func TestALongQuestionIsNotCarried(t *testing.T) {
	u := tool(kind{}, func(k *running) {
		long, _, one := k.question("sampling/createMessage", `{"messages":[{"role":"user","content":{"type":"text","text":"`+strings.Repeat("x", 4<<20)+`"}}],"maxTokens":1}`)
		short, _, other := k.question("elicitation/create", formAsk)
		k.say(long)
		k.say(short)
		k.ends(k.wait(one), k.wait(other))
	})
	bridged(t, u, nil, func(r *rig) {
		first := r.do(asking{name: "asks"})
		if len(first.Result.Requests) != 2 || len(first.text) < 4<<20 || len(first.Result.State) > rounds.MaxCarried {
			t.Fatalf("asked %d, in %d bytes, to be carried with %d", len(first.Result.Requests), len(first.text), len(first.Result.State))
		}
		const sampled = `{"role":"assistant","content":{},"model":"m"}`
		for part, want := range map[string]int{`"ask-0":` + accepted: -32602, `"ask-1":` + accepted: -32602, ``: -32602} {
			if g := r.do(asking{name: "asks", params: first.with(part)}); g.Error == nil || g.Error.Code != want {
				t.Errorf("%s: got %s", part, g.text)
			}
		}
		if last := r.do(asking{name: "asks", params: first.with(`"ask-0":` + sampled + `,"ask-1":` + accepted)}); len(last.Result.Got) != 2 || r.ran() != 1 {
			t.Errorf("got %s", last.text)
		}
	})
}
