package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"berth/internal/exchange"
)

// modeVariable has this test binary be an MCP server over stdio.
const modeVariable = "BERTH_STDIO_FIXTURE"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(modeVariable); mode {
	case "":
		os.Exit(m.Run())
	case "berth":
		beBerth()
	default:
		(&fixture{mode: mode, answers: map[string]chan message{}}).run()
	}
}

// beBerth runs a stubborn process, says which, and waits to be killed.
func beBerth() {
	s := New(Options{Command: []string{os.Args[0]}, Env: map[string]string{modeVariable: "stubborn"}})
	request := &exchange.Request{Method: "POST", Body: []byte(opening)}
	if _, err := s.Send(context.Background(), request, 0); err != nil {
		fmt.Println(err)
	}
	for p := range s.peers {
		fmt.Println(p.process.leader.Pid)
	}
	select {}
}

type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string `json:"name"`
		URI       string `json:"uri"`
		Arguments struct {
			Text string `json:"text"`
		} `json:"arguments"`
		Meta struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
		RequestID json.RawMessage `json:"requestId"`
		TaskID    string          `json:"taskId"`
		Version   string          `json:"protocolVersion"`
	} `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// fixture is a server whose tools misbehave in the ways that servers do.
type fixture struct {
	mode    string
	ready   bool
	asked   atomic.Int64
	refused atomic.Int64 // questions
	count   atomic.Int64 // executions of "ask"
	out     sync.Mutex
	mu      sync.Mutex // guards the fields below
	heard   []string   // notifications of the client's
	cancel  []string   // ids that it cancelled
	answers map[string]chan message
}

func (f *fixture) run() {
	switch f.mode {
	case "dies":
		fmt.Fprintln(os.Stderr, "no such database")
		os.Exit(3)
	case "silent":
		fmt.Fprintln(os.Stderr, "thinking")
		select {}
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
	case "slow":
		time.Sleep(300 * time.Millisecond)
	case "garbled":
		fmt.Print("Welcome!\n{\"hello\":1}\n[1,2\n\n")
	}
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			break
		}
		var m message
		if json.Unmarshal(line, &m) != nil {
			fmt.Fprintln(os.Stderr, "not JSON: "+string(line))
			os.Exit(4)
		}
		if m.Method != "initialize" && !f.ready {
			os.Exit(5) // as strict servers do
		}
		if m.Method == "initialize" {
			f.ready = true
			if f.mode == "passing" {
				f.result(m, `{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"f","version":"1"}}`)
				os.Exit(6)
			}
		}
		if m.Method == "tools/call" && m.Params.Name == "deaf" {
			f.text(m, "I hear no more")
			select {}
		}
		f.hear(m)
		go f.serve(m)
	}
	if f.mode == "stubborn" {
		select {}
	}
}

func (f *fixture) say(line string) {
	f.out.Lock()
	defer f.out.Unlock()
	fmt.Fprint(os.Stdout, line+"\n")
}

func (f *fixture) result(m message, result string) {
	f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":` + result + `}`)
}

func (f *fixture) text(m message, text string) {
	quoted, _ := json.Marshal(text)
	f.result(m, `{"content":[{"type":"text","text":`+string(quoted)+`}]}`)
}

// hear takes what is not answered, in the order in which it comes.
func (f *fixture) hear(m message) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case m.Method == "":
		if m.Error != nil {
			f.refused.Add(1)
		}
		if c := f.answers[string(m.ID)]; c != nil {
			c <- m
		}
	case m.ID == nil:
		f.heard = append(f.heard, m.Method)
		if m.Method == "notifications/cancelled" {
			f.cancel = append(f.cancel, string(m.Params.RequestID))
		}
	}
}

func (f *fixture) serve(m message) {
	switch {
	case m.Method == "":
	case m.ID == nil:
		if m.Method == "notifications/initialized" && f.mode == "roots" {
			f.ask("roots/list", "{}")
		}
		if m.Method == "notifications/initialized" && f.mode == "talkative" {
			f.say(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"ready"}}`)
			f.say(`{"jsonrpc":"2.0","method":"notifications/custom"}`)
		}
	case m.Method == "initialize" && f.mode == "refusing":
		f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32602,"message":"no"}}`)
	case m.Method == "initialize":
		f.result(m, `{"protocolVersion":"`+m.Params.Version+`","capabilities":{"tools":{},"resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"f","version":"1"}}`)
	case m.Method == "tools/list":
		f.result(m, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`)
	case m.Method == "tools/call":
		f.call(m)
	case m.Method == "tasks/result":
		f.ask("elicitation/create", `{"message":"of a task","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+m.Params.TaskID+`"}}}`)
		f.result(m, `{"content":[]}`)
	case m.Method == "resources/subscribe", m.Method == "resources/unsubscribe", m.Method == "ping", m.Method == "logging/setLevel":
		f.result(m, `{}`)
	default:
		f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32601,"message":"Method not found"}}`)
	}
}

// ask asks the client and returns its answer.
func (f *fixture) ask(method, params string) message {
	id := fmt.Sprint(f.asked.Add(1) - 1)
	c := make(chan message, 1)
	f.mu.Lock()
	f.answers[id] = c
	f.mu.Unlock()
	f.say(`{"jsonrpc":"2.0","id":` + id + `,"method":"` + method + `","params":` + params + `}`)
	return <-c
}

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
	case "touch":
		f.say(`{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"` + text + `"}}`)
		f.say(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
		f.text(m, "touched")
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
	case "flood":
		for range 20_000 {
			fmt.Fprintln(os.Stderr, strings.Repeat("y", 200))
		}
		f.text(m, "flooded")
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
	case "eat":
		eaten := make([]byte, 1<<30)
		for i := 0; i < len(eaten); i += 4096 {
			eaten[i] = 1
		}
		f.text(m, "ate")
	}
}
