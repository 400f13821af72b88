package mcp

import (
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// The members of params on which the route of a call, or the permission for it, rests.
var (
	paramsOfAny    = guard("_meta")
	paramsOfTask   = guard("_meta", "taskId")
	paramsOfNamed  = guard("_meta", "name")
	paramsOfURI    = guard("_meta", "uri")
	paramsOfListen = guard("_meta", "notifications")

	metaNames = guard(metaVersion, metaCapabilities, metaNewTask, metaRelatedTask)
	noNames   = guard()
)

// paramsOf are those of a method, and the one of them that is the call's name, if that is no task's.
func paramsOf(method string) (names *guarded, name memberSet) {
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

// rawText is one of such strings.
type rawText struct {
	value jsontext.Value
	plain bool
}

// readParams reads the object that comes next.
func (c *Call) readParams(r *reader) error {
	names, name := paramsOf(c.Method)
	o := r.open(names)
	for r.next(&o) {
		switch {
		case o.member == memberMeta:
			o.note(c.readMeta(r))
		case o.member == memberNotifications && c.Method == MethodListen:
			o.note(c.readListen(r))
		case o.member&name != 0:
			c.raw.name, c.plain.name = r.Value(), r.IsPlain()
			r.gaps.add(&r.Scanner, o.member, c.raw.name)
		default:
			c.setParam(r, o.member)
		}
	}
	r.inside |= o.seen
	return o.fault
}

// setParam reads the value of a member that has no parts which matter.
func (c *Call) setParam(r *reader, member memberSet) {
	value := r.Value()
	switch member {
	case memberTaskID:
		c.raw.taskID, c.plain.taskID, c.HasTaskID = value, r.IsPlain(), true
		r.gaps.add(&r.Scanner, member, value)
	case memberArguments:
		r.gaps.add(&r.Scanner, member, value)
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

func (c *Call) readMeta(r *reader) error {
	if r.Kind() != '{' {
		r.Value()
		return nil
	}
	o := r.open(&metaNames)
	from := r.At()
	c.recall(r, &o)
	for r.next(&o) {
		switch o.member {
		case memberMetaCapabilities:
			o.note(c.readCapabilities(r))
			c.remember(r, &o, from)
		case memberNewTask:
			o.note(c.readNewTask(r))
		case memberRelatedTask:
			o.note(c.readRelatedTask(r))
		case memberMetaVersion:
			c.raw.version, c.plain.version, c.hasMetaVersion = r.Value(), r.IsPlain(), true
		case memberTraceParent:
			c.Trace.Parent, _ = textOf(&r.Scanner, r.Value(), "")
		case memberTraceState:
			c.Trace.State, _ = textOf(&r.Scanner, r.Value(), "")
		case memberToken:
			token := r.Value()
			c.setToken(token)
			r.gaps.add(&r.Scanner, memberToken, token)
		default:
			r.Value()
		}
	}
	r.inside |= o.seen
	return o.fault
}

func (c *Call) setToken(token []byte) {
	if isToken(token) {
		c.ProgressToken = token
	}
}

// readCapabilities looks among what the client declares for the Tasks extension.
func (c *Call) readCapabilities(r *reader) error {
	if r.Kind() != '{' {
		c.capabilities = r.Value()
		return nil
	}
	c.hasCapabilities = true
	from := r.At()
	o := r.open(&noNames)
	for r.next(&o) {
		if o.member == memberExtensions && r.Kind() == '{' {
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
	o := r.open(&noNames)
	for r.next(&o) {
		kind := r.Kind()
		if r.Value(); o.member == memberTasksExtension && kind == '{' {
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

// decoded returns the string, or like where that is the same; bad is another kind.
func (t rawText) decoded(like string) (s string, bad bool) {
	switch {
	case !isText(t.value):
		return "", t.value != nil
	case t.plain:
		return known(t.value[1:len(t.value)-1], like), false
	}
	b, _ := unquote(t.value)
	return known(b, like), false
}
