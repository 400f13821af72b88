package mcp

import (
	"encoding/json"
	"fmt"
	"strings"

	"berth/internal/jsonobject"
)

// Progress is what a notifications/progress says (2026-07-28, "Progress").
type Progress struct {
	Token    []byte // raw JSON of params.progressToken; aliases the message
	Progress string // the number as its server wrote it
	Total    string // likewise; "" if it is not said
	Message  string // for people to read, unverified; "" if there is none
}

const maxProgressText = 1 << 10

// ProgressToken returns the raw token for the progress of a request that Peek takes, which it
// aliases; nil if it has none.
func ProgressToken(body []byte) []byte {
	if token := jsonobject.At(body, "params", "_meta", MemberProgressToken); isToken(token) {
		return token
	}
	return nil
}

// WithToken returns a request that has a progressToken with this raw one in its place; every other
// byte stays.
func WithToken(body, token []byte) []byte {
	return jsonobject.Replace(body, token, "params", "_meta", MemberProgressToken)
}

func isToken(value []byte) bool { return isText(value) || isNumber(value) }

// PeekProgress reads a message if it is an unambiguous notifications/progress with token and
// number.
func PeekProgress(message []byte) (p Progress, ok bool) {
	request, err := jsonobject.Named(message, envelopeNames...)
	if err != nil || !jsonobject.IsString(request[2], MethodProgress) {
		return Progress{}, false
	}
	said, err := jsonobject.Named(request[3], MemberProgressToken, "progress", "total", "message")
	if err != nil || !isToken(said[0]) || said[1].Kind() != '0' {
		return Progress{}, false
	}
	p = Progress{Token: said[0], Progress: string(said[1])}
	if said[2].Kind() == '0' {
		p.Total = string(said[2])
	}
	p.Message, _ = jsonobject.Text(said[3])
	return p, true
}

// ProgressParams returns the raw params of a message that PeekProgress takes, which it aliases.
func ProgressParams(message []byte) []byte { return jsonobject.At(message, "params") }

// Text returns the progress as a task's statusMessage says it: "42/100: rendering", or what of it
// there is, on one line of at most 1 KiB.
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

func shortened(line string) string {
	if len(line) > maxProgressText {
		line = strings.ToValidUTF8(line[:maxProgressText], "")
	}
	return line
}

// StatusLine returns what somebody says of a task as its statusMessage says it, on one line of at most 1 KiB.
func StatusLine(message string) string { return shortened(OneLine(message)) }

// OneLine returns s with one blank for whatever has no place on a line.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || IsUnfit(r) }), " ")
}

// WithProgressToken returns a notifications/progress with another token; every other byte stays.
func WithProgressToken(message, token []byte) []byte {
	return jsonobject.Replace(message, token, "params", MemberProgressToken)
}

// WithProgress returns a notifications/progress with another number; every other byte stays.
func WithProgress(message []byte, number string) []byte {
	return jsonobject.Replace(message, []byte(number), "params", "progress")
}

// NewProgress returns a notifications/progress of berth's own. progress is a JSON number, greater
// than the last one; message may be "".
func NewProgress(token []byte, progress, message string) []byte {
	if message != "" {
		text, _ := json.Marshal(message) // strings always marshal
		progress += `,"message":` + string(text)
	}
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{%q:%s,"progress":%s}}`, MethodProgress, MemberProgressToken, token, progress)
}
