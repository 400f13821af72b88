package stdio

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
)

// call runs a tool.
func (f *fixture) call(m message) {
	text := m.Params.Arguments.Text
	switch m.Params.Name {
	case "echo":
		f.text(m, text)
	case "identity":
		f.text(m, string(m.ID)+" "+string(m.Params.Meta.Token))
	case "pid":
		f.text(m, fmt.Sprint(os.Getpid()))
	case "environment":
		f.text(m, strings.Join(os.Environ(), "\n"))
	case "heard":
		f.mu.Lock()
		defer f.mu.Unlock()
		f.text(m, strings.Join(append(slices.Clone(f.heard), f.cancel...), " "))
	case "ask":
		f.count.Add(1)
		answer := f.ask("elicitation/create", `{"message":"who?","requestedSchema":{"type":"object","properties":{}}}`)
		f.text(m, fmt.Sprintf("%d: %s%s", f.count.Load(), answer.Result, answer.Error))
	case "interrogate":
		refused := make(chan message)
		for range maxAsks + 6 {
			go func() {
				if answer := f.ask("elicitation/create", `{"message":"who?"}`); answer.Error != nil {
					refused <- answer
				}
			}()
		}
		for range 6 {
			<-refused
		}
		f.text(m, "refused")
	case "refusals":
		f.text(m, fmt.Sprint(f.refused.Load()))
	case "withdraw":
		id := f.asked.Add(1) - 1
		f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"elicitation/create","params":{"message":"who?"}}`, id))
		f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%d}}`, id))
		f.text(m, "never mind")
	case "pings":
		answer := f.ask("ping", "{}")
		f.text(m, string(answer.Result))
	case "progress":
		for i := range 3 {
			f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d}}`, m.Params.Meta.Token, i))
		}
		f.text(m, "done")
	case "many":
		for i := range 2000 {
			f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":%q}}`, m.Params.Meta.Token, i, strings.Repeat("x", 1000)))
		}
		f.text(m, "done")
	case "log":
		f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + text + `"}}`)
		f.text(m, "logged")
	case "complete":
		f.say(`{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}`)
		f.text(m, "complete")
	case "touch":
		f.say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + text + `"}}`)
		f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		f.text(m, "touched")
	case "ask later", "log later": // whether it is cancelled or not
		held := make(chan message)
		f.mu.Lock()
		f.held = append(f.held, held)
		f.mu.Unlock()
		<-held
		if m.Params.Name == "log later" {
			f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"` + text + `"}}`)
			held <- m
		} else {
			held <- m
			f.ask("elicitation/create", `{"message":"`+text+`","requestedSchema":{"type":"object","properties":{}}}`)
		}
		f.text(m, "late")
	case "held":
		f.mu.Lock()
		defer f.mu.Unlock()
		f.text(m, fmt.Sprint(len(f.held)))
	case "go on": // with what is held
		f.mu.Lock()
		held := f.held
		f.mu.Unlock()
		for _, one := range held {
			one <- m
			<-one
		}
		f.text(m, "went on")
	case "hang":
		f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hanging"}}`)
	case "die":
		fmt.Fprintln(os.Stderr, "out of luck")
		os.Exit(3)
	case "batch":
		f.say(`[{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"in a batch"}},{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[]}}]`)
	case "carriage":
		f.say("\ufeff{\"jsonrpc\":\"2.0\",\r \"id\":" + string(m.ID) + ",\r\"result\":{\"content\":[]}}\r")
	case "endless":
		f.out.Lock()
		for range 100 {
			fmt.Fprint(os.Stdout, strings.Repeat("x", 1<<20))
		}
	case "huge": // by its text the id stands first or last, or it is the answer to a call before this one
		long := `"result":{"content":[{"type":"text","text":"` + strings.Repeat("x", 5<<20) + `"}],"of":{"jsonrpc":"2.0","id":0}}`
		switch text {
		case "first":
			f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,` + long + `}`)
		case "last":
			f.say(`{` + long + `,"jsonrpc":"2.0","id":` + string(m.ID) + `}`)
		case "last of three":
			f.say(`{ "jsonrpc": "2.0", ` + long + `, "id": ` + string(m.ID) + ` }`)
		default:
			f.say(`{"jsonrpc":"2.0","id":` + text + `,` + long + `}`)
			f.text(m, "answered another")
		}
	case "question": // too long, under the id of the call itself
		f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"method":"sampling/createMessage","params":{"of":"result","text":"` + strings.Repeat("x", 5<<20) + `"}}`)
	case "babble":
		f.say(`{"method":"notifications/message","params":{"level":"info","data":"` + strings.Repeat("x", 5<<20) + `"},"jsonrpc":"2.0","id":` + string(m.ID) + `}`)
	case "flood":
		for range 20_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("y", 200))
		}
		f.text(m, "flooded")
	case "level":
		f.text(m, *f.level.Load())
	case "escape":
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout, cmd.SysProcAttr = os.Stdout, &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			f.text(m, err.Error())
			return
		}
		f.text(m, fmt.Sprint(cmd.Process.Pid))
	case "fork":
		cmd := exec.Command("sleep", "1000")
		cmd.Stdout = os.Stdout // it holds the pipe
		if err := cmd.Start(); err != nil {
			f.text(m, err.Error())
			return
		}
		f.text(m, fmt.Sprint(cmd.Process.Pid))
	case "task":
		f.result(m, `{"task":{"taskId":"t-`+text+`","status":"working","ttl":1000}}`)
		f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.Params.Meta.Token))
		f.say(`{"jsonrpc":"2.0","method":"notifications/tasks/status","params":{"taskId":"t-` + text + `","status":"completed"}}`)
	case "mute":
		os.Stdout.Close()
	case "unreadable":
		f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"content":[],"secret":NaN}}`)
	case "unread": // as the server says that it cannot read what it was sent
		f.say(`{"jsonrpc":"2.0",` + text + `"error":{"code":-32700,"message":"Parse error"}}`)
	case "invalid":
		f.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`)
		f.text(m, "one")
	case "fraction":
		f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `.0,"result":{"content":[{"type":"text","text":"one"}]}}`)
	case "string":
		f.say(`{"jsonrpc":"2.0","id":"` + string(m.ID) + `","result":{"content":[{"type":"text","text":"one"}]}}`)
	case "eat":
		eaten := make([]byte, 1<<30)
		for i := 0; i < len(eaten); i += 4096 {
			eaten[i] = 1
		}
		f.text(m, "ate")
	}
}
