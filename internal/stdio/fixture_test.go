package stdio

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"
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
		fmt.Println(p.process.Pid())
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
		Level     string          `json:"level"`
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
	level   atomic.Pointer[string]
	refused atomic.Int64 // questions
	count   atomic.Int64 // executions of "ask"
	out     sync.Mutex
	mu      sync.Mutex // guards the fields below
	heard   []string   // notifications of the client's
	cancel  []string   // ids that it cancelled
	answers map[string]chan message
	held    []chan message // calls that are to go on
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
		if m.Method == "logging/setLevel" {
			f.serve(m) // before what follows
			continue
		}
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
	case m.Method == "initialize" && f.mode == "modern":
		f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2025-11-25"}}}`)
	case m.Method == "initialize" && f.mode == "refusing":
		f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32602,"message":"no"}}`)
	case m.Method == "initialize":
		f.result(m, `{"protocolVersion":"`+m.Params.Version+`","capabilities":{"tools":{},"resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"f","version":"1"}}`)
	case m.Method == "tools/list":
		f.result(m, `{"tools":[{"name":"echo","inputSchema":{"type":"object"}}]}`)
	case m.Method == "tools/call":
		f.call(m)
	case m.Method == "tasks/get" && m.Params.TaskID == "t-gone":
		f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32602,"message":"Task not found"}}`)
	case m.Method == "tasks/get", m.Method == "tasks/cancel":
		status := map[string]string{"tasks/get": "completed", "tasks/cancel": "cancelled"}[m.Method]
		f.result(m, `{"taskId":"`+m.Params.TaskID+`","status":"`+status+`","ttl":1000}`)
	case m.Method == "tasks/result":
		f.ask("elicitation/create", `{"message":"of a task","_meta":{"io.modelcontextprotocol/related-task":{"taskId":"`+m.Params.TaskID+`"}}}`)
		f.result(m, `{"content":[]}`)
	case m.Method == "logging/setLevel":
		f.level.Store(&m.Params.Level)
		f.result(m, `{}`)
	case m.Method == "resources/subscribe" && strings.HasPrefix(m.Params.URI, "none:"):
		f.say(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"error":{"code":-32002,"message":"no such resource"}}`)
	case m.Method == "resources/subscribe", m.Method == "resources/unsubscribe", m.Method == "ping":
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
