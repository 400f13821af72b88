package mcp

import (
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

const memberTask = "task"

// AsksTask reports whether the call of a tool asks to be made a task: in the legacy era,
// by an object in params.task (2025-11-25, tasks, "Creating Tasks"). In the modern era the
// member means nothing.
func (c *Call) AsksTask() bool {
	return c.Era == EraLegacy && c.Kind == KindRequest && c.Method == MethodCallTool && c.task.Kind() == '{'
}

// AskedTTL returns how long the client wants the task to live, which may be no time at
// all; asked is false where it leaves that to the server, by a ttl that is absent or null.
// The error is an *Error to answer with: -32602 if params.task.ttl is no number, and
// -32600 if two readers could understand it differently.
func (c *Call) AskedTTL() (ttl time.Duration, asked bool, err error) {
	bad := false
	err = members(c.task, []string{"ttl"}, func(name []byte, value jsontext.Value) error {
		if string(name) != "ttl" || value.Kind() == 'n' {
			return nil
		}
		ms, err := strconv.ParseFloat(string(value), 64)
		asked = true
		bad = value.Kind() != '0' || err != nil && !errors.Is(err, strconv.ErrRange)
		ttl = milliseconds(ms)
		return nil
	})
	switch {
	case err != nil:
		return 0, false, refusal(err)
	case bad:
		return 0, false, errParams("task.ttl is no number")
	}
	return ttl, asked, nil
}
