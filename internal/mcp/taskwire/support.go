package taskwire

import (
	"bytes"
	"errors"

	"berth/internal/jsonobject"
	"berth/internal/jsonscan"

	"github.com/go-json-experiment/json/jsontext"
)

// What a tool says of tasks in execution.taskSupport (2025-11-25, "Tool-Level Negotiation");
// without it Forbidden.
const (
	Forbidden = "forbidden"
	Optional  = "optional"
	Required  = "required"
)

// AddSupport returns the response to a tools/list with the taskSupport of its tools as support
// wants it, and reports whether that changed anything. support is called for each tool, in order,
// with what it says itself, "" for nothing; and returns what it is to say, "" to leave it alone.
// Every other byte stays. A tool that is ambiguous is left alone and not shown.
func AddSupport(message []byte, support func(tool, says string) string) ([]byte, bool) {
	var edits []jsonobject.Edit
	for _, t := range toolsIn(message) {
		to := support(t.name, t.says)
		if to == "" || to == t.says {
			continue
		}
		value := jsonobject.AppendString(nil, to)
		if own, err := jsonobject.Setting(value, "execution", "taskSupport").Edits(nil, message[t.from:t.to], t.from); err == nil {
			edits = append(edits, own...)
		}
	}
	if len(edits) == 0 {
		return message, false
	}
	return bytes.Join(jsonobject.Edited(message, edits), nil), true
}

type listedTool struct {
	name, says string
	from, to   int
}

func toolsIn(message []byte) (tools []listedTool) {
	start, end := listIn(message)
	if start == end {
		return nil
	}
	s := jsonscan.New(message[start:end])
	for s.Open('['); s.Element(); {
		value := s.Value()
		if s.Err() != nil {
			return nil
		}
		t := listedTool{to: start + s.At()}
		t.from = t.to - len(value)
		if t.read(value) == nil {
			tools = append(tools, t)
		}
	}
	return tools
}

// listIn finds result.tools; from and to are equal if there is none, or not one alone.
func listIn(message []byte) (from, to int) {
	response, err := jsonobject.Named(message, "result", "error", "id", "method", "params")
	result, failure := response[0], response[1]
	if err != nil || failure != nil && failure.Kind() != 'n' {
		return 0, 0
	}
	if list, err := jsonobject.Named(result, "tools"); err != nil || list[0].Kind() != '[' {
		return 0, 0
	}
	from, to, _ = jsonobject.Locate(message, "result", "tools")
	return from, to
}

var errNoTool = errors.New("mcp: not a tool whose support of tasks can be told")

func (t *listedTool) read(tool jsontext.Value) error {
	members, err := jsonobject.Named(tool, "name", "execution")
	if err != nil {
		return err
	}
	name, execution := members[0], members[1]
	if name.Kind() != '"' {
		return errNoTool
	}
	t.name, _ = jsonobject.Text(name)
	if execution != nil {
		t.says, err = taskSupport(execution)
	}
	return err
}

func taskSupport(execution jsontext.Value) (says string, err error) {
	members, err := jsonobject.Named(execution, "taskSupport")
	if err == nil && members[0] != nil {
		if says, _ = jsonobject.Text(members[0]); says == "" {
			err = errNoTool
		}
	}
	return says, err
}
