package mcp

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The members of params on which the route of a call, or the permission for it, rests.
var (
	paramsOfAny    = []string{"_meta"}
	paramsOfTask   = []string{"_meta", "taskId"}
	paramsOfNamed  = []string{"_meta", "name"}
	paramsOfURI    = []string{"_meta", "uri"}
	paramsOfListen = []string{"_meta", "notifications"}
)

func paramsNames(method string) []string {
	switch nameField(method) {
	case "taskId":
		return paramsOfTask
	case "name":
		return paramsOfNamed
	case "uri":
		return paramsOfURI
	}
	if method == MethodListen {
		return paramsOfListen
	}
	return paramsOfAny
}

var metaNames = []string{metaVersion, metaCapabilities, metaNewTask, metaRelatedTask}

// rawCall holds strings of a call as they stand in the body; nil is an absent one.
type rawCall struct {
	name, taskID, cursor, requestState jsontext.Value
	traceParent, traceState            jsontext.Value
	newTaskID, relatedTaskID           jsontext.Value
	version                            jsontext.Value // in _meta
}

// readParams reads the object that comes next.
func (c *Call) readParams(r *reader) error {
	field := nameField(c.Method)
	o := r.open(paramsNames(c.Method))
	for r.next(&o) {
		switch {
		case string(o.name) == "_meta":
			o.note(c.readMeta(r))
		case string(o.name) == "notifications" && c.Method == MethodListen:
			o.note(c.readListen(r))
		case field != "" && field != "taskId" && string(o.name) == field:
			c.raw.name = r.Value()
		default:
			c.setParam(o.name, r.Value())
		}
	}
	return o.fault
}

func (c *Call) setParam(name []byte, value jsontext.Value) {
	switch string(name) {
	case "taskId":
		c.raw.taskID, c.HasTaskID = value, true
	case "cursor":
		c.raw.cursor = value
	case "requestState":
		c.raw.requestState = value
	case memberTask:
		c.task = value
	case "capabilities":
		if c.Method == MethodInitialize {
			c.capabilities = value
		}
	}
}

func (c *Call) readMeta(r *reader) error {
	if r.Kind() != '{' {
		r.Value()
		return nil
	}
	o := r.open(metaNames)
	for r.next(&o) {
		switch string(o.name) {
		case metaCapabilities:
			o.note(c.readCapabilities(r))
		case metaNewTask:
			o.note(readDraftTask(r, &c.raw.newTaskID))
		case metaRelatedTask:
			o.note(readDraftTask(r, &c.raw.relatedTaskID))
		case metaVersion:
			c.raw.version, c.hasMetaVersion = r.Value(), true
		case "traceparent":
			c.raw.traceParent = r.Value()
		case "tracestate":
			c.raw.traceState = r.Value()
		case memberProgressToken:
			if token := r.Value(); isToken(token) {
				c.ProgressToken = token
			}
		default:
			r.Value()
		}
	}
	return o.fault
}

// readCapabilities looks among what the client declares for the Tasks extension.
func (c *Call) readCapabilities(r *reader) error {
	if r.Kind() != '{' {
		c.capabilities = r.Value()
		return nil
	}
	c.hasCapabilities = true
	from := r.At()
	o := r.open(nil)
	for r.next(&o) {
		if string(o.name) == "extensions" && r.Kind() == '{' {
			o.note(c.readExtensions(r))
		} else {
			r.Value()
		}
	}
	if r.Err() == nil {
		c.capabilities = r.Text()[from:r.At():r.At()]
	}
	return o.fault
}

func (c *Call) readExtensions(r *reader) error {
	o := r.open(nil)
	for r.next(&o) {
		kind := r.Kind()
		if r.Value(); string(o.name) == TasksExtension && kind == '{' {
			c.DeclaresTasks = true
		}
	}
	return o.fault
}

// readListen reads what a subscription asks for.
func (c *Call) readListen(r *reader) error {
	filter := r.Value()
	if r.Err() != nil {
		return nil
	}
	asked, err := ParseFilter(filter)
	if err != nil {
		return err
	}
	// Of what is something else, an upstream could read names that berth does not see.
	if tasks, ok := asked.Find(FilterTasks); ok && tasks.List == nil && tasks.Raw.Kind() != 'n' {
		return errInvalid("taskIds is no list of strings", "")
	}
	c.Listen = asked
	return nil
}

// decode makes strings of what was read. Where the headers say the same, they spare a copy.
func (c *Call) decode(version, name string) {
	c.metaVersion, _ = decoded(c.raw.version, version)
	c.Name, c.badName = decoded(c.raw.name, name)
	c.badName = c.badName || isAmbiguous(c.raw.name, c.Name)
	c.TaskID, c.badTaskID = decoded(c.raw.taskID, name)
	c.Cursor, c.badCursor = decoded(c.raw.cursor, "")
	c.RequestState, c.badRequestState = decoded(c.raw.requestState, "")
	c.Trace.Parent, _ = decoded(c.raw.traceParent, "")
	c.Trace.State, _ = decoded(c.raw.traceState, "")
	c.NewTaskID, c.badNewTaskID = decoded(c.raw.newTaskID, "")
	c.hasNewTaskID = c.raw.newTaskID != nil
	c.RelatedTaskID, _ = decoded(c.raw.relatedTaskID, "")
}

// isAmbiguous reports whether a string that was read has half a character in it, which is U+FFFD here and may be something else to
// who reads it next: two of them could be told different names.
func isAmbiguous(value jsontext.Value, read string) bool {
	if !strings.ContainsRune(read, utf8.RuneError) {
		return false
	}
	_, err := jsontext.AppendUnquote(nil, value)
	return err != nil
}

// decoded returns the string in value, or like where that is the same; bad is another kind.
func decoded(value jsontext.Value, like string) (s string, bad bool) {
	switch {
	case value == nil:
		return "", false
	case value.Kind() != '"':
		return "", true
	}
	b, _ := unquote(value)
	if string(b) == like {
		return like, false
	}
	return word(b), false
}
