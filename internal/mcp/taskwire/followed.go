package taskwire

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"

	"berth/internal/jsonobject"
	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"

	"github.com/go-json-experiment/json/jsontext"
)

// Followed is a task as its upstream tells of it in the Tasks extension. Its slices alias what
// was read.
type Followed struct {
	ID           string
	Status       string
	Message      string          // statusMessage, on one line; the upstream's, unverified; "" if it is not UTF-8
	PollInterval time.Duration   // 0: not said
	Asks         []inquiry.Input // inputRequests, in order
	Result       []byte          // raw JSON object; nil if there is none
	Error        []byte          // raw JSON object; nil if there is none
}

var (
	errNoTask  = errors.New("mcp: no task is told of")
	errNotUTF8 = errors.New("mcp: not UTF-8")
)

// ReadFollowed reads a result that hands out a task, or that of a tasks/get. It fails if that tells
// of no task, is ambiguous, asks in what is not UTF-8, and where InputRequired does.
func ReadFollowed(result []byte) (Followed, error) {
	var t Followed
	known := []string{"taskId", "status", "statusMessage", "pollIntervalMs", mcp.MemberInputRequests, "result", "error"}
	err := jsonobject.Each(result, known, t.set)
	if err == nil && (t.ID == "" || t.Status == "") {
		err = errNoTask
	}
	if err != nil {
		return Followed{}, err
	}
	return t, nil
}

func (t *Followed) set(name []byte, value jsontext.Value) (err error) {
	isObject := value.Kind() == '{'
	switch {
	case string(name) == "taskId":
		t.ID, _ = jsonobject.Text(value)
	case string(name) == "status":
		t.Status, _ = jsonobject.Text(value)
	case string(name) == "statusMessage" && utf8.Valid(value):
		message, _ := jsonobject.Text(value)
		t.Message = mcp.StatusLine(message)
	case string(name) == "pollIntervalMs":
		if ms, err := strconv.ParseFloat(string(value), 64); err == nil && ms > 0 && ms < 1e9 {
			t.PollInterval = time.Duration(ms * float64(time.Millisecond))
		}
	case string(name) == mcp.MemberInputRequests && !utf8.Valid(value):
		err = errNotUTF8
	case string(name) == mcp.MemberInputRequests && isObject:
		t.Asks, err = inquiry.ReadRequests(value)
	case string(name) == "result" && isObject:
		t.Result = value
	case string(name) == "error" && isObject:
		t.Error = value
	}
	return err
}

// Request returns a request of berth's own about a task, for a tasks/update with the client's
// answers under the upstream's keys.
func Request(id, method, taskID, version string, answers []inquiry.Input) []byte {
	params := map[string]any{"taskId": taskID, "_meta": mcp.OwnMeta(version)}
	if answers != nil {
		params[mcp.MemberInputResponses] = json.RawMessage(inquiry.Inputs(answers))
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
