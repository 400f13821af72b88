package mcp

import "github.com/go-json-experiment/json/jsontext"

// paramsNames lists the members of params on which the route of a call of this
// method, or the permission for it, rests.
func paramsNames(method string) []string {
	names := []string{"_meta"}
	if field := nameField(method); field != "" {
		names = append(names, field)
	}
	if method == MethodListen {
		names = append(names, "notifications")
	}
	return names
}

var metaNames = []string{metaVersion, metaCapabilities, metaNewTask, metaRelatedTask}

func (c *Call) fillParams(params jsontext.Value) error {
	field := nameField(c.Method)
	return members(params, paramsNames(c.Method), func(name string, value jsontext.Value) error {
		if field != "" && field != "taskId" && name == field {
			return c.fillName(value)
		}
		switch name {
		case "_meta":
			return c.fillMeta(value)
		case "taskId":
			c.HasTaskID = true
			id, ok := text(value)
			c.TaskID, c.badTaskID = id, !ok
		case "cursor":
			cursor, ok := text(value)
			c.Cursor, c.badCursor = cursor, !ok
		case "requestState":
			c.RequestState, _ = text(value)
		case memberTask:
			c.task = value
		case "capabilities":
			if c.Method == MethodInitialize {
				c.capabilities = value
			}
		case "notifications":
			if c.Method == MethodListen {
				return c.fillListen(value)
			}
		}
		return nil
	})
}

func (c *Call) fillName(value jsontext.Value) error {
	name, ok := text(value)
	c.Name, c.badName = name, !ok
	return nil
}

func (c *Call) fillMeta(meta jsontext.Value) error {
	if meta.Kind() != '{' {
		return nil
	}
	return members(meta, metaNames, func(name string, value jsontext.Value) error {
		switch name {
		case metaVersion:
			c.hasMetaVersion = true
			c.metaVersion, _ = text(value)
		case metaCapabilities:
			c.capabilities = value
			return c.fillCapabilities(value)
		case metaNewTask, metaRelatedTask:
			return c.fillDraftTask(name, value)
		case "traceparent":
			c.Trace.Parent, _ = text(value)
		case "tracestate":
			c.Trace.State, _ = text(value)
		}
		return nil
	})
}

func (c *Call) fillCapabilities(caps jsontext.Value) error {
	if caps.Kind() != '{' {
		return nil
	}
	c.hasCapabilities = true
	return members(caps, nil, func(name string, value jsontext.Value) error {
		if name != "extensions" || value.Kind() != '{' {
			return nil
		}
		return members(value, nil, func(name string, value jsontext.Value) error {
			if name == TasksExtension && value.Kind() == '{' {
				c.DeclaresTasks = true
			}
			return nil
		})
	})
}

// fillListen reads what a subscription asks for.
func (c *Call) fillListen(filter jsontext.Value) error {
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
