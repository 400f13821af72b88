package stdio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"time"

	"berth/internal/mcp"
	"berth/internal/stdio/process"
)

// maxShown is how much of what is no message a log shows, in bytes.
const maxShown = 200

// receive takes a line of the process's stdout.
func (p *peer) receive(from *process.Process, line []byte) {
	p.heard.Store(int64(time.Since(p.begun)))
	line = mcp.Unmarked(bytes.TrimSpace(line))
	if len(line) == 0 {
		return
	}
	if !mcp.MayBeMessage(line) || !json.Valid(line) {
		if !p.misanswered(answeredBy(line), "cannot be read", mcp.ReasonBadUpstream) {
			p.rubbish(from, line)
		}
		return
	}
	line = oneLine(line) // a CR between tokens would be a line's end in an event stream
	for message, err := range mcp.Messages(line) {
		if err == nil {
			p.hear(from, message)
		}
	}
}

// misanswered ends the call of this number, whose answer is told to nobody for what is said. It reports whether there is one.
func (p *peer) misanswered(number int64, what, reason string) bool {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	p.left.answered(number)
	c := p.calls[number]
	if c == nil || c.session == nil {
		return false
	}
	p.finish(c, failed("the process's answer "+what, reason, mcp.Executed).Body(c.id))
	return true
}

// overlong takes a line that is too long, of which there are the head and the end. It reports whether it is the answer to a call, which
// alone fails then, or was given up: others may share the process.
func (p *peer) overlong(from *process.Process, head, end []byte) bool {
	p.heard.Store(int64(time.Since(p.begun)))
	head = mcp.Unmarked(bytes.TrimSpace(head))
	number := answeredBy(head)
	if number == 0 {
		number = answeredAtLast(head, append(head[max(0, len(head)-maxShown):len(head):len(head)], end...))
	}
	return p.misanswered(number, fmt.Sprintf("is longer than %d bytes", p.server.options.MaxLine), mcp.ReasonAnswerTooLarge) || p.isGivenUp(from, number)
}

// isGivenUp reports whether the process was given a call of this number, and nobody waits for its answer any more.
func (p *peer) isGivenUp(from *process.Process, number int64) bool {
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	if number < 1 || number > p.next || p.calls[number] != nil {
		return false
	}
	p.crossed(from)
	return true
}

// crossed tells, once a process, of an answer that nobody waits for. The caller holds the server's mutex.
func (p *peer) crossed(from *process.Process) {
	if p.odd.isNew("crossed") {
		from.Log.Info("stdio process answers what nobody has asked, or asked no more")
	}
}

// answeredBy returns the number of the call that a line seems to answer: its id, which stands before the result or error; 0: it answers
// none, as a question does not.
func answeredBy(line []byte) (n int64) {
	head := line[:min(len(line), maxShown)]
	before, _, isResult := bytes.Cut(head, []byte(`"result"`))
	before, _, isError := bytes.Cut(before, []byte(`"error"`))
	if !isResult && !isError || bytes.Contains(before, []byte(`"method"`)) {
		return 0
	}
	_, id, _ := bytes.Cut(before, []byte(`"id"`))
	id, _, _ = bytes.Cut(id, []byte(","))
	n, _ = answered(bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(id), []byte(":"))))
	return n
}

var (
	resultFirst = regexp.MustCompile(`^\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"(?:result|error)"\s*:`)
	idLast      = regexp.MustCompile(`,\s*"id"\s*:\s*([^,{}\s]+)\s*\}\s*$`)
)

// answeredAtLast is answeredBy of a line in which nothing but its version stands before the result or error: some servers write the id
// behind that, as the last member. What stands within the result has more braces behind it.
func answeredAtLast(head, end []byte) (n int64) {
	if last := idLast.FindSubmatch(end); last != nil && resultFirst.Match(head) {
		n, _ = answered(last[1])
	}
	return n
}

// rubbish tells, once a process, of what is no message. What begins as one may be a result, which no log tells.
func (p *peer) rubbish(from *process.Process, line []byte) {
	p.server.mu.Lock()
	first := p.odd.isNew("rubbish")
	p.server.mu.Unlock()
	if !first {
		return
	}
	shown := fmt.Sprintf("%d bytes that begin as JSON", len(line))
	if line[0] != '{' && line[0] != '[' {
		shown = string(bytes.ToValidUTF8(line[:min(len(line), maxShown)], []byte("\ufffd")))
	}
	from.Log.Warn("stdio process writes to stdout what is no message; it is dropped, and so is what follows of that kind", "line", shown)
}

// hear takes a message of the process's.
func (p *peer) hear(from *process.Process, message []byte) {
	a, err := mcp.PeekAnswer(message, false)
	if err != nil && a.ID == nil { // it is ambiguous: whoever it is for judges that
		a.ID = mcp.ID(message)
	}
	p.server.mu.Lock()
	defer p.server.mu.Unlock()
	switch {
	case a.Method != "" && a.HasID():
		p.question(message, a.ID, a.Method)
	case a.Method != "":
		p.notification(message, a.Method)
	case a.HasID():
		p.response(from, message, &a)
	case a.IsNobodys() && a.ErrorCode == mcp.CodeParse && p.calls.only() != nil: // of what it could not read it knows no id
		c := p.calls.only()
		p.finish(c, mcp.ErrorResponse(c.id, mcp.ErrorObject(message)))
	case a.IsNobodys(): // it may be about a notification
		if p.odd.isNew("nobodys") {
			from.Log.Info("stdio process writes an error that names no request; it is dropped", "code", a.ErrorCode)
		}
	case p.odd.isNew("rubbish"):
		from.Log.Warn("stdio process writes to stdout what is neither a request nor a response; it is dropped")
	}
}

// response gives a call its answer, under the client's id.
func (p *peer) response(from *process.Process, message []byte, a *mcp.Answer) {
	n, isNumber := answered(a.ID)
	c := p.calls[n]
	p.left.answered(n)
	switch {
	case c == nil || !isNumber:
		p.crossed(from)
	case c.session == nil:
		p.answered = true
		delete(p.calls, n)
		c.answer <- message
	default:
		if !p.worked {
			p.worked = true
			p.server.breaker.lived()
		}
		if a.CreatesTask() {
			p.tasks.keep(c, a.Task.ID, time.Now().Add(p.server.timing.awaited))
		} else if c.taskID != "" {
			p.tasks.noteAnswer(c, a, time.Now().Add(p.server.timing.awaited))
		}
		if a.HasResult && !a.IsError {
			c.grant()
		}
		p.finish(c, mcp.WithID(message, c.id))
	}
}
