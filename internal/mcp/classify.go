package mcp

import "berth/internal/wire"

// Classify decodes the strings of each call in msg, sets its era and holds the routing
// headers against the body. A header that contradicts the body is refused (-32020); one
// that is missing is not: the upstream judges that. In the legacy era the
// routing headers mean nothing and are not looked at.
//
// What has no place in its protocol version at all (a batch, a response, a request
// without an id) is refused before (-32600).
func Classify(msg *Message, h *wire.Header) *Error {
	said := routingOf(h)
	_, refusal := holdAgainst(msg, &said)
	return refusal
}

// ClassifyStrictly is Classify which also refuses header values of a modern message that mirror the body and hold bytes which
// readers take for different things (2026-07-28, "Value Encoding"), and versions in the body that no header could mirror: what berth asks
// by itself bears the caller's version in one.
func ClassifyStrictly(msg *Message, h *wire.Header) *Error {
	said := routingOf(h)
	modern, refusal := holdAgainst(msg, &said)
	if refusal == nil && modern && said.hasForeignBytes(h) {
		refusal = ErrMismatch("a header that mirrors the body holds invalid characters")
	}
	for i := range msg.Calls {
		if c := &msg.Calls[i]; refusal == nil && c.Era == EraModern && !fitsHeader(c.Version) {
			refusal = errUnsupported(c.Version)
		}
	}
	return refusal
}

// fitsHeader reports whether a version that a body names can stand in a header.
func fitsHeader(version string) bool {
	return version == versionModern || len(version) <= maxVersion && !hasForeignBytes(version)
}

// maxVersion bounds what names a version, in bytes.
const maxVersion = 64

// holdAgainst is Classify by what the headers say. modern: one of the calls is of that era.
func holdAgainst(msg *Message, said *routing) (modern bool, refusal *Error) {
	version, hasVersion := said.version.value, said.version.present
	for i := range msg.Calls {
		msg.Calls[i].decode(version, said.name.value)
	}
	if said.version.differs {
		return false, ErrMismatch("several MCP-Protocol-Version values")
	}
	modern = setEras(msg, said)
	if msg.Batch && (modern || !AllowsBatches(version)) {
		return modern, errInvalid("this protocol version has no batches", "")
	}
	for i := range msg.Calls {
		c := &msg.Calls[i]
		if err := checkForm(c); err != nil {
			return modern, err
		}
		if hasVersion && c.hasMetaVersion && version != c.metaVersion {
			return modern, ErrMismatch("MCP-Protocol-Version is not the version in _meta")
		}
		if c.Era == EraLegacy {
			continue
		}
		if err := checkNames(c, said); err != nil {
			return modern, err
		}
	}
	return modern, nil
}

func setEras(msg *Message, said *routing) (modern bool) {
	for i := range msg.Calls {
		c := &msg.Calls[i]
		c.Version = said.version.value
		if !said.version.present {
			c.Version = c.metaVersion
		}
		c.Era = era(c, said.method.present)
		modern = modern || c.Era == EraModern
	}
	return modern
}

// era decides by the version that a message claims. One that has not the form of a revision is
// modern if it stands in `_meta`, or the method is mirrored: only modern clients do that.
func era(c *Call, mirrored bool) Era {
	switch {
	case IsModern(c.Version), IsModern(c.metaVersion):
		return EraModern
	case isRevision(c.Version), c.Version == "" && !c.hasMetaVersion:
		return EraLegacy
	case c.hasMetaVersion, mirrored:
		return EraModern
	}
	return EraLegacy
}

// checkForm refuses what is well formed but has no place in its era.
func checkForm(c *Call) *Error {
	switch {
	case c.Kind == KindNotification && isOfRequests(c.Method):
		return errInvalid("a request needs an id", "")
	case c.Kind == KindResponse && c.Era == EraModern:
		return errInvalid("a client sends no responses in this protocol version", "")
	}
	return nil
}

func checkNames(c *Call, said *routing) *Error {
	if said.method.differs || said.method.present && said.method.value != c.Method {
		return ErrMismatch("Mcp-Method is not the method in the body")
	}
	if said.name.differs {
		return ErrMismatch("several Mcp-Name values")
	}
	field := nameField(c.Method)
	if !said.name.present || field == "" {
		return nil
	}
	name, ok := DecodeName(said.name.value)
	if !ok {
		return ErrMismatch("Mcp-Name holds no valid base64")
	}
	if c.contradicts(field, name) {
		return ErrMismatch("Mcp-Name is not the " + field + " in the body")
	}
	return nil
}

// contradicts reports whether the body names something else than Mcp-Name. A body that names
// nothing does: no client that follows the specification sends it (2026-07-28, "Client Behavior"),
// and berth, which routes by the body, would leave the name unguarded to those behind it who route
// by the header. A task id that is no string is left to CheckTaskID, whose answer is more to the
// point.
func (c *Call) contradicts(field, name string) bool {
	switch {
	case field != "taskId":
		return c.badName || name != c.Name
	case c.badTaskID:
		return false
	case !c.HasTaskID && !namesTask(c.Method):
		return false
	}
	return name != c.TaskID
}
