package mcp

import (
	"strings"
	"sync/atomic"

	"berth/internal/jsonscan"
	"berth/internal/recall"
)

// answerForm is the form of results. Its gaps are the id, what a tool has said, the task that is told of, when that was made and
// has changed, and what is said beside.
type answerForm struct {
	recall.Form
	from, to   recall.Spot // of the result
	toolFailed bool
	resultType string
	told, core Task // by the result, and by the task in it
}

// answerForms are those that were read last.
var answerForms = recall.New[recall.Alike[answerForm]](1 << 6)

func placeOfAnswerForm(data []byte) *atomic.Pointer[recall.Alike[answerForm]] {
	return answerForms.Place(recall.WordsBehind(resultMark, data))
}

var resultMark = []byte(`"result":{"`)

// differing are the members of a response that are gaps of its form.
const differing = memberID | memberTaskID | memberStatusMessage | memberCreated | memberUpdated | memberContent | memberStructured | memberMeta

// recall reads the message, if its form is known.
func (r *answerReader) recall(a *Answer) bool {
	if r.cut || r.subscribed != nil {
		return false
	}
	var found recall.Gaps
	if place := placeOfNoticeForm(r.Text()); place != nil {
		return r.recallNotice(a, place)
	}
	for _, f := range recall.Those(placeOfAnswerForm(r.Text())) {
		if r.take(a, f, &found) {
			return true
		}
	}
	return false
}

// take reads the message, if it has the form f, and finds its gaps.
func (r *answerReader) take(a *Answer, f *answerForm, found *recall.Gaps) bool {
	s := jsonscan.New(r.Text())
	found.Count = 0
	return f.Fits(&s, found) && r.fill(a, f, found)
}

// fill has a be what stands in the message, which has the form f. A task's id that is not plain is not f's to read.
func (r *answerReader) fill(a *Answer, f *answerForm, found *recall.Gaps) (ok bool) {
	data, result, core, id := r.Text(), f.told, f.core, []byte(nil)
	for i := range found.Count {
		g := &found.Of[i]
		value := g.Value(data)
		switch {
		case isID(g):
			id = value
		case g.Member != memberTaskID:
		case !g.Plain || !isText(value):
			return false
		case g.Depth == 2:
			result.ID = known(value[1:len(value)-1], r.asked)
		default:
			core.ID = known(value[1:len(value)-1], r.asked)
		}
	}
	r.result, r.core = result, core
	a.ID, a.HasResult, a.ToolFailed, a.ResultType = id, true, f.toolFailed, f.resultType
	r.from = f.from.In(found)
	a.Result = data[r.from:f.to.In(found)]
	return true
}

// isID reports whether a gap is that of the id of a message.
func isID(g *recall.Gap) bool { return g.Member == memberID && g.Depth == 1 }

// remember has messages like the one that was read be known, if it is a result in which nothing stands but what most have.
func (r *answerReader) remember(a *Answer) {
	const usual = memberResultType | memberOwnTask | memberToolFailed | memberTaskID | memberStatus | memberStatusMessage |
		memberTTLMs | memberTTL | memberKeepAlive | memberCreated | memberUpdated | memberInterval | memberContent | memberStructured | memberMeta
	if a.Method != "" {
		r.rememberNotice(a)
		return
	}
	if r.cut || r.Err() != nil || r.seen != memberID|memberResult || a.Result == nil || r.strange || r.inside&^usual != 0 {
		return
	}
	if place := placeOfAnswerForm(r.Text()); recall.HasRoom(&answerForms, place) {
		if f := r.form(a); f != nil {
			recall.Remember(place, f)
		}
	}
}

// form is that of the message, which was read; nil: none is kept.
func (r *answerReader) form(a *Answer) *answerForm {
	g := &r.gaps
	text, ok := recall.FormOf(r.Text(), g)
	if !ok {
		return nil
	}
	return &answerForm{
		Form: text, from: recall.SpotOf(r.from, g), to: recall.SpotOf(r.from+len(a.Result), g),
		toolFailed: a.ToolFailed, resultType: strings.Clone(a.ResultType), told: r.result.withoutID(), core: r.core.withoutID(),
	}
}

// withoutID is t as all messages of its form have it.
func (t Task) withoutID() Task {
	t.ID, t.Status = "", strings.Clone(t.Status)
	return t
}
