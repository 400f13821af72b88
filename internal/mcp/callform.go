package mcp

import (
	"bytes"
	"sync/atomic"

	"berth/internal/jsonscan"
	"berth/internal/recall"
)

// callForm is the form of requests. Its gaps are the id, the token of the progress, the id of the task, and the name and the
// arguments of the tool.
type callForm struct {
	recall.Form
	call  Call                      // what was read, but for the gaps; it aliases no message
	round atomic.Pointer[roundForm] // what becomes of it in a first round; nil: nobody has asked for that
}

// callForms are those that were read last.
var callForms = recall.New[recall.Alike[callForm]](1 << 6)

func placeOfCallForm(data []byte) *atomic.Pointer[recall.Alike[callForm]] {
	return callForms.Place(recall.WordsBehind(methodMark, data))
}

var methodMark = []byte(`"method":"`)

// recallForm is peek of a message whose form is known; false of any other.
func (c *Call) recallForm(data []byte) (ascii, known bool) {
	for _, f := range recall.Those(placeOfCallForm(data)) {
		s, found := jsonscan.New(data), recall.Gaps{}
		if f.Fits(&s, &found) && f.fill(c, data, &found) {
			return s.IsASCII(), true
		}
	}
	return false, false
}

// fill has c be what stands in data, which has the form f. What it says in a gap may be a fault, which is not f's to tell.
func (f *callForm) fill(c *Call, data []byte, found *recall.Gaps) (ok bool) {
	*c = f.call
	for i := range found.Count {
		switch g := &found.Of[i]; g.Member {
		case memberID:
			c.ID = g.Value(data)
		case memberName:
			c.raw.name, c.plain.name = g.Value(data), g.Plain
		case memberTaskID:
			c.raw.taskID, c.plain.taskID = g.Value(data), g.Plain
		case memberToken:
			c.setToken(g.Value(data))
		}
	}
	if ok = isToken(c.ID); !ok {
		*c = Call{}
	}
	return ok
}

// rememberForm has messages like the one that was read be known, if nothing stands in it but what most requests have.
func (c *Call) rememberForm(r *callReader) {
	const usual = memberMeta | memberName | memberTaskID | memberArguments |
		memberMetaVersion | memberMetaClient | memberMetaCapabilities | memberToken
	if c.Kind != KindRequest || !r.passed || r.IsStrange() || r.inside&^usual != 0 {
		return
	}
	place := placeOfCallForm(r.Text())
	if !recall.HasRoom(&callForms, place) {
		return
	}
	if f, ok := recall.FormOf(r.Text(), &r.gaps); ok {
		recall.Remember(place, &callForm{Form: f, call: c.withoutGaps()})
	}
}

// withoutGaps is c as all messages of its form have it.
func (c *Call) withoutGaps() Call {
	kept := *c
	kept.ID, kept.ProgressToken = nil, nil
	kept.raw = rawCall{version: bytes.Clone(c.raw.version)}
	kept.capabilities = bytes.Clone(c.capabilities)
	return kept
}
