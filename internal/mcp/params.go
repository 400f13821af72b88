package mcp

import (
	"strings"
	"unicode/utf8"

	"berth/internal/jsonobject"
	"berth/internal/mcp/listen"

	"github.com/go-json-experiment/json/jsontext"
)

// The members of params on which the route of a call, or the permission for it, rests.
var (
	paramsOfAny    = jsonobject.Guard(&memberNames, "_meta")
	paramsOfTask   = jsonobject.Guard(&memberNames, "_meta", "taskId")
	paramsOfNamed  = jsonobject.Guard(&memberNames, "_meta", "name")
	paramsOfURI    = jsonobject.Guard(&memberNames, "_meta", "uri")
	paramsOfListen = jsonobject.Guard(&memberNames, "_meta", "notifications")

	metaNames = jsonobject.Guard(&memberNames, MetaVersion, MetaCapabilities, metaNewTask, metaRelatedTask)
	noNames   = jsonobject.Guard(&memberNames)
)

// paramsOf are those of a method, and the one of them that is the call's name, if that is no task's.
func paramsOf(method string) (names *jsonobject.Guarded, name jsonobject.Set) {
	switch nameField(method) {
	case "taskId":
		return &paramsOfTask, 0
	case "name":
		return &paramsOfNamed, memberName
	case "uri":
		return &paramsOfURI, memberURI
	}
	if method == MethodListen {
		return &paramsOfListen, 0
	}
	return &paramsOfAny, 0
}

// rawCall holds those strings of a call that headers may say as well, as they stand in the body; nil is an absent one.
type rawCall struct {
	name, taskID jsontext.Value
	version      jsontext.Value // in _meta
}

// plainRaw says of which of them it is known that they are ASCII without a backslash, if they are strings.
type plainRaw struct{ name, taskID, version bool }

// readParams reads the object that comes next.
func (c *Call) readParams(r *messageReader) error {
	names, name := paramsOf(c.Method)
	o := r.Enter(names)
	for r.Next(&o) {
		switch {
		case o.Member == memberMeta:
			o.Note(c.readMeta(r))
		case o.Member == memberNotifications && c.Method == MethodListen:
			o.Note(c.readListen(r))
		case o.Member&name != 0:
			c.raw.name, c.plain.name = r.Value(), r.IsPlain()
			r.gaps.Add(&r.Scanner, o.Member, c.raw.name)
		default:
			c.setParam(r, o.Member)
		}
	}
	r.inside |= o.Seen
	return o.Fault
}

// setParam reads the value of a member that has no parts which matter.
func (c *Call) setParam(r *messageReader, member jsonobject.Set) {
	value := r.Value()
	switch member {
	case memberTaskID:
		c.raw.taskID, c.plain.taskID, c.HasTaskID = value, r.IsPlain(), true
		r.gaps.Add(&r.Scanner, member, value)
	case memberArguments:
		r.gaps.Add(&r.Scanner, member, value)
	case memberCursor:
		c.Cursor, c.badCursor = textOf(&r.Scanner, value, "")
	case memberState:
		c.RequestState, _ = textOf(&r.Scanner, value, "")
		c.badRequestState = c.RequestState == ""
	case memberOwnTask:
		c.task = value
	case memberCapabilities:
		if c.Method == MethodInitialize {
			c.capabilities = value
		}
	}
}

func (c *Call) readMeta(r *messageReader) error {
	if r.Kind() != '{' {
		r.Value()
		return nil
	}
	o := r.Enter(&metaNames)
	from := r.At()
	c.recall(r, &o)
	for r.Next(&o) {
		switch o.Member {
		case memberMetaCapabilities:
			o.Note(c.readCapabilities(r))
			c.remember(r, &o, from)
		case memberNewTask:
			o.Note(c.readNewTask(r))
		case memberRelatedTask:
			o.Note(c.readRelatedTask(r))
		case memberMetaVersion:
			c.raw.version, c.plain.version, c.hasMetaVersion = r.Value(), r.IsPlain(), true
		case memberTraceParent:
			c.Trace.Parent, _ = textOf(&r.Scanner, r.Value(), "")
		case memberTraceState:
			c.Trace.State, _ = textOf(&r.Scanner, r.Value(), "")
		case memberToken:
			token := r.Value()
			c.setToken(token)
			r.gaps.Add(&r.Scanner, memberToken, token)
		default:
			r.Value()
		}
	}
	r.inside |= o.Seen
	return o.Fault
}

func (c *Call) setToken(token []byte) {
	if isToken(token) {
		c.ProgressToken = token
	}
}

// readCapabilities looks among what the client declares for the Tasks extension.
func (c *Call) readCapabilities(r *messageReader) error {
	if r.Kind() != '{' {
		c.capabilities = r.Value()
		return nil
	}
	c.hasCapabilities = true
	from := r.At()
	o := r.Enter(&noNames)
	for r.Next(&o) {
		if o.Member == memberExtensions && r.Kind() == '{' {
			o.Note(c.readExtensions(r))
		} else {
			r.Value()
		}
	}
	if r.Err() == nil {
		c.capabilities = r.Text()[from:r.At():r.At()]
	}
	return o.Fault
}

func (c *Call) readExtensions(r *messageReader) error {
	o := r.Enter(&noNames)
	for r.Next(&o) {
		kind := r.Kind()
		if r.Value(); o.Member == memberTasksExtension && kind == '{' {
			c.DeclaresTasks = true
		}
	}
	return o.Fault
}

// readListen reads what a subscription asks for.
func (c *Call) readListen(r *messageReader) error {
	filter := r.Value()
	if r.Err() != nil {
		return nil
	}
	asked, err := listen.Parse(filter)
	if err != nil {
		return err
	}
	// Of what is something else, an upstream could read names that berth does not see.
	if tasks, ok := asked.Find(listen.Tasks); ok && tasks.List == nil && tasks.Raw.Kind() != 'n' {
		return errInvalid("taskIds is no list of strings", "")
	}
	c.Listen = asked
	return nil
}

// decode makes strings of what was read. Where the headers say the same, they spare a copy.
func (c *Call) decode(version, name string) {
	c.metaVersion, _ = rawText{c.raw.version, c.plain.version}.decoded(version)
	c.Name, c.badName = rawText{c.raw.name, c.plain.name}.decoded(name)
	c.badName = c.badName || isAmbiguous(c.raw.name, c.Name)
	c.TaskID, c.badTaskID = rawText{c.raw.taskID, c.plain.taskID}.decoded(name)
}

// isAmbiguous reports whether a string that was read has half a character in it, which is U+FFFD here and may be something else to
// who reads it next: two of them could be told different names.
func isAmbiguous(value jsontext.Value, read string) bool {
	if len(value) == len(read)+len(`""`) || !strings.ContainsRune(read, utf8.RuneError) { // it has no escapes, or none of such
		return false
	}
	_, err := jsontext.AppendUnquote(nil, value)
	return err != nil
}
