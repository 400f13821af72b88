package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"berth/internal/jsonobject"

	"github.com/go-json-experiment/json/jsontext"
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
	if token := jsonobject.At(body, "params", "_meta", memberProgressToken); isToken(token) {
		return token
	}
	return nil
}

// WithToken returns a request that has a progressToken with this raw one in its place; every other
// byte stays.
func WithToken(body, token []byte) []byte {
	return jsonobject.Replace(body, token, "params", "_meta", memberProgressToken)
}

func isToken(value []byte) bool { return isText(value) || isNumber(value) }

// PeekProgress reads a message if it is an unambiguous notifications/progress with token and
// number.
func PeekProgress(message []byte) (p Progress, ok bool) {
	request, err := jsonobject.Named(message, envelopeNames...)
	if err != nil || !jsonobject.IsString(request[2], MethodProgress) {
		return Progress{}, false
	}
	said, err := jsonobject.Named(request[3], memberProgressToken, "progress", "total", "message")
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

// OneLine returns s with one blank for whatever has no place on a line.
func OneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || IsUnfit(r) }), " ")
}

// WithProgressToken returns a notifications/progress with another token; every other byte stays.
func WithProgressToken(message, token []byte) []byte {
	return jsonobject.Replace(message, token, "params", memberProgressToken)
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
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%q,"params":{%q:%s,"progress":%s}}`, MethodProgress, memberProgressToken, token, progress)
}

// FollowedTask is a task as its upstream tells of it in the Tasks extension. Its slices alias what
// was read.
type FollowedTask struct {
	ID           string
	Status       string
	Message      string        // statusMessage, on one line; the upstream's, unverified; "" if it is not UTF-8
	PollInterval time.Duration // 0: not said
	Asks         []Input       // inputRequests, in order
	Result       []byte        // raw JSON object; nil if there is none
	Error        []byte        // raw JSON object; nil if there is none
}

var (
	errNoTask  = errors.New("mcp: no task is told of")
	errNotUTF8 = errors.New("mcp: not UTF-8")
)

// ReadFollowed reads a result that hands out a task, or that of a tasks/get. It fails if that tells
// of no task, is ambiguous, asks in what is not UTF-8, and where InputRequired does.
func ReadFollowed(result []byte) (FollowedTask, error) {
	var t FollowedTask
	known := []string{"taskId", "status", "statusMessage", "pollIntervalMs", memberInputRequests, "result", "error"}
	err := jsonobject.Each(result, known, t.set)
	if err == nil && (t.ID == "" || t.Status == "") {
		err = errNoTask
	}
	if err != nil {
		return FollowedTask{}, err
	}
	return t, nil
}

func (t *FollowedTask) set(name []byte, value jsontext.Value) (err error) {
	isObject := value.Kind() == '{'
	switch {
	case string(name) == "taskId":
		t.ID, _ = jsonobject.Text(value)
	case string(name) == "status":
		t.Status, _ = jsonobject.Text(value)
	case string(name) == "statusMessage" && utf8.Valid(value):
		message, _ := jsonobject.Text(value)
		t.Message = shortened(OneLine(message))
	case string(name) == "pollIntervalMs":
		if ms, err := strconv.ParseFloat(string(value), 64); err == nil && ms > 0 && ms < 1e9 {
			t.PollInterval = time.Duration(ms * float64(time.Millisecond))
		}
	case string(name) == memberInputRequests && !utf8.Valid(value):
		err = errNotUTF8
	case string(name) == memberInputRequests && isObject:
		t.Asks, err = readRequests(value)
	case string(name) == "result" && isObject:
		t.Result = value
	case string(name) == "error" && isObject:
		t.Error = value
	}
	return err
}

// TaskRequest returns a request of berth's own about a task, for a tasks/update with the client's
// answers under the upstream's keys.
func TaskRequest(id, method, taskID, version string, answers []Input) []byte {
	params := map[string]any{"taskId": taskID, "_meta": OwnMeta(version)}
	if answers != nil {
		params[memberInputResponses] = json.RawMessage(Inputs(answers))
	}
	// What it holds always marshals: answers were parsed before.
	body, _ := json.Marshal(struct {
		Version string         `json:"jsonrpc"`
		ID      string         `json:"id"`
		Method  string         `json:"method"`
		Params  map[string]any `json:"params"`
	}{"2.0", id, method, params})
	return body
}
