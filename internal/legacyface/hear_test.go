package legacyface

import (
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"berth/internal/exchange/exchangetest"
	"berth/internal/mcp"
	"berth/internal/wire"
)

// A question goes to the asking call begun last, else to the standing stream, else back.
func TestWhereQuestionsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		ask := func(id string) string { return request(id, "sampling/createMessage", "") }

		c.conn.hear(ask("0"))
		c.conn.hear(request("1", "ping", ""))
		said := c.conn.heard()
		if code, _ := failure(t, find(t, said, `"id":0`)); code != mcp.CodeInternal {
			t.Errorf("got code %d", code)
		}
		if got := find(t, said, `"id":1`); got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
			t.Errorf("to the ping: got %s", got)
		}

		standing := eventsOf(t, c.get())
		c.conn.hear(ask("2"))
		standing.wants(ask("2"))

		first := eventsOf(t, c.post(request("1", "prompts/get", `"n":1`)))
		last := eventsOf(t, c.post(request("2", "resources/read", `"n":2`)))
		list := eventsOf(t, c.post(request("3", "tools/list", `"n":3,"_meta":{"progressToken":3}`)))
		plain := make(chan *wire.Response, 1)
		go func() { plain <- c.post(request("4", "tools/call", `"n":4`), "Accept", "application/json") }()
		said = c.conn.heard()
		c.conn.hear(ask("3"))
		last.wants("", ask("3"))
		c.conn.hear(result(idOf(t, said, `"n":2`), "x"))
		last.wants(result("2", "x"), "EOF")
		c.conn.hear(ask("4"))
		first.wants("", ask("4"))
		c.conn.hear(result(idOf(t, said, `"n":3`), "x"))
		list.wants("", result("3", "x"), "EOF")
		c.conn.hear(result(idOf(t, said, `"n":4`), "x"))
		exchangetest.ReadAll(t, <-plain)
	})
}

func find(t *testing.T, said []string, word string) string {
	t.Helper()
	for _, message := range said {
		if strings.Contains(message, word) {
			return message
		}
	}
	t.Fatalf("nothing says %s: %q", word, said)
	return ""
}

// An answer reaches the server once, under the id that the server made.
func TestAnswersToQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		call := eventsOf(t, c.post(request("1", "tools/call", "")))
		own := idOf(t, c.conn.heard(), "tools/call")
		c.conn.hear(request(`"q/1"`, "roots/list", ""))
		call.wants("", request(`"q/1"`, "roots/list", ""))
		for _, answer := range []string{result(`"q\/1"`, "yes"), result(`"q/1"`, "again"), result("5", "who asked?")} {
			if got := c.status(wire.MethodPost, answer); got != wire.StatusAccepted {
				t.Errorf("%s: got %d", answer, got)
			}
		}
		if said := c.conn.heard(); len(said) != 1 || said[0] != result(`"q\/1"`, "yes") {
			t.Errorf("the server was told %q", said)
		}

		// One that the server withdraws, or that has outlived its call, is not open any more.
		withdrawal := `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}`
		c.conn.hear(request("2", "roots/list", ""))
		c.conn.hear(withdrawal)
		c.status(wire.MethodPost, result("2", "late"))
		c.conn.hear(request("3", "roots/list", ""))
		c.conn.hear(result(own, "done"))
		call.wants(request("2", "roots/list", ""), withdrawal, request("3", "roots/list", ""), result("1", "done"), "EOF")
		for _, id := range []string{"2", "3"} {
			if got := c.status(wire.MethodPost, result(id, "late")); got != wire.StatusAccepted {
				t.Errorf("%s: got %d", id, got)
			}
		}
		if said := c.conn.heard(); len(said) != 0 {
			t.Errorf("the server was told %q", said)
		}
	})
}

// What a task asks is told on the stream of a tasks/result, and open for as long as the task waits,
// whatever becomes of that stream (2025-11-25, tasks, "Input Required Status").
func TestTasksQuestionsOutliveTheCallThatHeardThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		events := eventsOf(t, c.post(request("1", "tasks/result", `"taskId":"t"`)))
		asked := request("2", "elicitation/create", `"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}`)
		c.conn.hear(asked)
		events.wants("", asked)
		c.status(wire.MethodPost, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`)
		c.conn.heard()
		c.status(wire.MethodPost, result("2", "yes"))
		if said := c.conn.heard(); len(said) != 1 || said[0] != result("2", "yes") {
			t.Errorf("the server was told %q, want the answer", said)
		}
	})
}

func TestOpenQuestionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		c.post(request("1", "tools/call", "")).Body.Close()
		c.conn.heard()
		for i := range maxQuestions + 1 {
			c.conn.hear(request(strconv.Itoa(i), "roots/list", ""))
		}
		if said := c.conn.heard(); len(said) != 1 {
			t.Errorf("the server was told %q", said)
		}
	})
}

// What belongs to no call waits for whoever reads the standing stream next.
func TestTheStandingStream(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		log := func(n string) string {
			return `{"jsonrpc":"2.0","method":"notifications/message","params":{"data":` + n + `}}`
		}
		progress := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"of a task","progress":1}}`
		c.conn.hear(log("1"))
		c.conn.hear(progress)
		c.post(request("1", "tools/call", "")).Body.Close()
		odd := `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}`
		c.conn.hear(odd)
		standing := eventsOf(t, c.get())
		standing.wants(log("1"), progress, odd)
		if got := c.status(wire.MethodGet, ""); got != wire.StatusConflict {
			t.Errorf("of a second one: got %d", got)
		}
		last := standing.id
		standing.body.Close()
		c.conn.hear(log("2"))
		standing = eventsOf(t, c.get())
		standing.wants(log("2"))
		standing.body.Close()
		standing = eventsOf(t, c.get(mcp.HeaderLastEvent, last))
		standing.wants(log("2"))
		c.status(wire.MethodDelete, "")
		standing.wants("EOF")
	})
}

// What a server says that it cannot read is the one call under way, and of several none. What else names no request may be about a notification.
func TestAParseErrorEndsTheOneCallUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newRig(t, Options{}).open()
		for _, id := range []string{`"id":null,`, ``} {
			call := eventsOf(t, c.post(request(`"a"`, "tools/call", "")))
			c.line.hear(`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid Request"}}`)
			c.line.hear(`{"jsonrpc":"2.0",` + id + `"error":{"code":-32700,"message":"Parse error"}}`)
			call.wants("", `{"jsonrpc":"2.0","id":"a","error":{"code":-32700,"message":"Parse error"}}`, "EOF")
		}
		c.line.heard()
		one := eventsOf(t, c.post(request("1", "tools/call", `"n":1`)))
		two := eventsOf(t, c.post(request("2", "tools/call", `"n":2`)))
		said := c.line.heard()
		c.line.hear(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}`)
		c.line.hear(result(idOf(t, said, `"n":1`), "x"))
		c.line.hear(result(idOf(t, said, `"n":2`), "y"))
		one.wants("", result("1", "x"), "EOF")
		two.wants("", result("2", "y"), "EOF")
	})
}

// Some servers make a string of a token, or a number.
func TestProgressIsOfItsCallHoweverItsTokenIsTold(t *testing.T) {
	for token, told := range map[string]string{`7`: `"7"`, `"7"`: `7`} {
		synctest.Test(t, func(t *testing.T) {
			c := newRig(t, Options{}).open()
			progress := func(token, n string) string {
				return `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":` + token + `,"progress":` + n + `}}`
			}
			call := eventsOf(t, c.post(request("1", "tools/call", `"n":1,"_meta":{"progressToken":`+token+`}`)))
			other := eventsOf(t, c.post(request("2", "tools/call", `"n":2,"_meta":{"progressToken":8}`)))
			said := c.line.heard()
			c.line.hear(progress(told, "1"))
			c.line.hear(progress("8", "2"))
			c.line.hear(progress(`""`, "3"))
			c.line.hear(result(idOf(t, said, `"n":1`), "x"))
			c.line.hear(result(idOf(t, said, `"n":2`), "y"))
			call.wants("", progress(token, "1"), result("1", "x"), "EOF")
			other.wants("", progress("8", "2"), result("2", "y"), "EOF")

			number := eventsOf(t, c.post(request("3", "tools/call", `"n":3,"_meta":{"progressToken":7}`)))
			text := eventsOf(t, c.post(request("4", "tools/call", `"n":4,"_meta":{"progressToken":"7"}`)))
			said = c.line.heard()
			c.line.hear(progress(`"7"`, "1"))
			c.line.hear(progress("7", "2"))
			c.line.hear(result(idOf(t, said, `"n":3`), "x"))
			c.line.hear(result(idOf(t, said, `"n":4`), "y"))
			number.wants("", progress("7", "2"), result("3", "x"), "EOF")
			text.wants("", progress(`"7"`, "1"), result("4", "y"), "EOF")
		})
	}
}

// A server may answer 1 with "1" or 1.0, and tell the id of an answer that cannot be read last.
func TestAnswersAreOfTheirCallHoweverTheyTellItsID(t *testing.T) {
	for said, want := range map[string]string{
		`{"jsonrpc":"2.0","id":"ID","result":{}}`:                       `"id":7,"result"`,
		`{"jsonrpc":"2.0","id":ID.0,"result":{}}`:                       `"id":7,"result"`,
		`{"jsonrpc":"2.0","result":{"a":1},"result":{},"id":ID}`:        `"id":7,"error"`,
		`{"jsonrpc":"2.0","result":{"a":1},"result":{},"id":"ID"}`:      `"id":7,"error"`,
		`[{"jsonrpc":"2.0","result":{"a":1},"result":{},"id":"ID"}]`:    `"id":7,"error"`,
		`{"jsonrpc":"2.0","id":ID,"result":{"a":1},"result":{},"x":[]}`: `"id":7,"error"`,
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newRig(t, Options{}).open()
			answer := c.Later(request("7", "tools/list", ""))
			id := idOf(t, c.conn.heard(), "tools/list")
			c.conn.hear(strings.ReplaceAll(said, "ID", id))
			c.conn.hear(result(id, "too late"))
			if got := exchangetest.ReadAll(t, <-answer); !strings.Contains(got, want) || strings.Contains(got, "too late") {
				t.Errorf("%s: got %s", said, got)
			}
		})
	}
}
