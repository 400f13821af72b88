package mcp

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Progress is what a notifications/progress says (2026-07-28, "Progress").
type Progress struct {
	Token    []byte // raw JSON of params.progressToken; aliases the message
	Progress string // the number as its server wrote it
	Total    string // likewise; "" if it is not said
	Message  string // for people to read, unverified; "" if there is none
}

// maxProgressText bounds what Text returns, and other messages of upstreams, in bytes.
const maxProgressText = 1 << 10

// ProgressToken returns the raw token that a request gives for its progress, nil if there
// is none or it is neither a string nor a number. It aliases body, which must be one that
// Peek takes.
func ProgressToken(body []byte) []byte {
	from, to, ok := locate(body, "params", "_meta", memberProgressToken)
	if !ok || !isToken(body[from:to]) {
		return nil
	}
	return body[from:to]
}

func isToken(value jsontext.Value) bool { return value.Kind() == '"' || value.Kind() == '0' }

// PeekProgress reads a message if it is a notifications/progress. ok is false if it is
// none, if it lacks the token or the number, and if two readers could understand it
// differently.
func PeekProgress(message []byte) (p Progress, ok bool) {
	var env envelope
	if objectMembers(message, envelopeNames, env.set) != nil {
		return Progress{}, false
	}
	if method, _ := text(env.method); method != MethodProgress {
		return Progress{}, false
	}
	known := []string{memberProgressToken, "progress", "total", "message"}
	err := objectMembers(env.params, known, p.set)
	if err != nil || p.Token == nil || p.Progress == "" {
		return Progress{}, false
	}
	return p, true
}

func (p *Progress) set(name []byte, value jsontext.Value) error {
	isNumber := value.Kind() == '0'
	switch {
	case string(name) == memberProgressToken && isToken(value):
		p.Token = value
	case string(name) == "progress" && isNumber:
		p.Progress = string(value)
	case string(name) == "total" && isNumber:
		p.Total = string(value)
	case string(name) == "message":
		p.Message, _ = text(value)
	}
	return nil
}

// ProgressParams returns the raw params of a message that PeekProgress takes. It aliases
// message.
func ProgressParams(message []byte) []byte {
	from, to, ok := locate(message, "params")
	if !ok {
		return nil
	}
	return message[from:to]
}

// Text returns the progress as the statusMessage of a task says it: "42/100: rendering",
// or what of it there is. It is one line of valid UTF-8 without control characters, of at
// most 1 KiB: the message is the upstream's.
func (p Progress) Text() string {
	line := p.Progress
	if p.Total != "" {
		line += "/" + p.Total
	}
	if message := OneLine(p.Message); message != "" {
		line += ": " + message
	}
	return shortened(line)
}

// shortened returns a line as a statusMessage may bear it.
func shortened(line string) string {
	if len(line) > maxProgressText {
		line = strings.ToValidUTF8(line[:maxProgressText], "")
	}
	return line
}

// OneLine returns s with one blank for whatever has no place on a line.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || IsUnfit(r) }), " ")
}

// WithProgressToken returns a notifications/progress with its token replaced; every
// other byte stays as it came.
func WithProgressToken(message, token []byte) []byte {
	return replace(message, token, "params", memberProgressToken)
}

// NewProgress returns a notifications/progress of berth's own for the request that gave
// this raw token. progress is a JSON number, greater than the last one; message may be "".
func NewProgress(token []byte, progress, message string) []byte {
	out := append([]byte(`{"jsonrpc":"2.0","method":"`+MethodProgress+`","params":{"`+memberProgressToken+`":`), token...)
	out = append(append(out, `,"progress":`...), progress...)
	if message != "" {
		text, _ := json.Marshal(message) // strings always marshal
		out = append(append(out, `,"message":`...), text...)
	}
	return append(out, "}}"...)
}
