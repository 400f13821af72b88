package mcp

// Classify sets the era of each call in msg and holds the routing headers
// against the body. A header that contradicts the body is refused (-32020); one
// that is missing is not: the upstream judges that. In the legacy era the
// headers mean nothing and are not looked at.
func Classify(msg *Message, h Headers) *Error {
	version, hasVersion, ok := single(h, HeaderVersion)
	if !ok {
		return errMismatch("several MCP-Protocol-Version values")
	}
	for i := range msg.Calls {
		c := &msg.Calls[i]
		c.Version = version
		if !hasVersion {
			c.Version = c.MetaVersion
		}
		c.Era = era(c, h)
		if c.Era == EraLegacy && c.MetaVersion == "" {
			continue
		}
		if hasVersion && c.MetaVersion != "" && version != c.MetaVersion {
			return errMismatch("MCP-Protocol-Version is not the version in _meta")
		}
		if err := checkNames(c, h); err != nil {
			return err
		}
		if c.Kind == KindResponse {
			return errInvalid("a client sends no responses in this protocol version", "")
		}
	}
	if msg.Batch && (msg.Calls[0].Era == EraModern || !AllowsBatches(version)) {
		return errInvalid("this protocol version has no batches", "")
	}
	return nil
}

// era decides by the version that a message claims. A version that has not the
// form of a revision is modern if the message carries it in `_meta` or mirrors
// its method, which only modern clients do.
func era(c *Call, h Headers) Era {
	switch {
	case IsModern(c.Version), IsModern(c.MetaVersion):
		return EraModern
	case c.MetaVersion != "":
		return EraModern
	case c.Version != "" && !isRevision(c.Version) && len(h.Values(HeaderMethod)) > 0:
		return EraModern
	}
	return EraLegacy
}

func checkNames(c *Call, h Headers) *Error {
	method, present, ok := single(h, HeaderMethod)
	if !ok || present && c.Kind != KindResponse && method != c.Method {
		return errMismatch("Mcp-Method is not the method in the body")
	}
	raw, present, ok := single(h, HeaderName)
	if !ok {
		return errMismatch("several Mcp-Name values")
	}
	field := nameField(c.Method)
	if !present || field == "" {
		return nil
	}
	name, ok := DecodeName(raw)
	if !ok {
		return errMismatch("Mcp-Name holds no valid base64")
	}
	if want, there := c.mirrored(field); there && name != want {
		return errMismatch("Mcp-Name is not the " + field + " in the body")
	}
	return nil
}

// mirrored returns the value that Mcp-Name must equal.
func (c *Call) mirrored(field string) (value string, there bool) {
	if field == "taskId" {
		return c.TaskID, c.HasTaskID
	}
	return c.Name, c.hasName
}
