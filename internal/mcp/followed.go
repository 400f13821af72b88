package mcp

import (
	"encoding/json"
	"errors"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// FollowedTask is a task of an upstream's as it tells of it in the dialect of the Tasks
// extension. Its slices alias what it was read from.
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

// ReadFollowed reads a result that hands out a task, or the result of a tasks/get. It
// fails if that tells of no task, asks for input in what is not UTF-8, on names that two readers could understand differently,
// and where InputRequired does.
func ReadFollowed(result []byte) (FollowedTask, error) {
	var t FollowedTask
	known := []string{"taskId", "status", "statusMessage", "pollIntervalMs", memberInputRequests, "result", "error"}
	err := objectMembers(result, known, t.set)
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
		t.ID, _ = text(value)
	case string(name) == "status":
		t.Status, _ = text(value)
	case string(name) == "statusMessage" && utf8.Valid(value):
		message, _ := text(value)
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

// TaskRequest returns the body of a request of berth's own about a task: its method, and
// for a tasks/update the client's answers under the upstream's keys.
func TaskRequest(id, method, taskID, version string, answers []Input) []byte {
	params := map[string]any{"taskId": taskID, "_meta": OwnMeta(version)}
	if answers != nil {
		params[memberInputResponses] = json.RawMessage(appendInputs(make([]byte, 0, sizeOf(answers)), answers))
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
