package audit

import (
	"cmp"
	"strings"
	"time"

	"berth/internal/seal"
	"berth/internal/trouble"
	"berth/proxy/inbound"
)

// Deed is what a request did to a task, as the audit log has it.
type Deed uint8

// The deeds.
const (
	None      Deed = iota
	Made           // the caller was given a new task
	Told           // the caller was given the result
	Cancelled      // the task's owner has taken a cancel
	Answered       // the task's owner has taken answers to what it asked
	Deleted        // the task's owner has deleted it (first draft)
)

var deedNames = [...]string{Made: "made", Told: "told", Cancelled: "cancelled", Answered: "answered", Deleted: "deleted"}

// refused is the event of a request that berth did not take, or of an id that nobody knows.
const refused = "refused"

// IsAudited reports whether deeds are written down.
func (r *Record) IsAudited() bool { return r.reporter.deeds != nil }

// Does notes what the request does to its task; to the one with this id, if that is another than it names.
func (r *Record) Does(deed Deed, id string) { r.deed, r.deedOn = deed, id }

// logDeed writes down what the request did, or was refused.
func (r *Record) logDeed(e end) {
	if r.reporter.deeds == nil {
		return
	}
	if kind, what, _ := r.trouble(e.outcome); kind == trouble.Refusals || kind == trouble.UnknownIDs {
		r.logEvent(e, refused, what)
		return
	}
	if r.deed == None || r.deed == Told && (e.outcome != outcomeOK || !r.reporter.isNews(r.call, r.subject())) {
		return
	}
	r.logEvent(e, deedNames[r.deed], "")
}

// logEvent writes one line of the audit log.
func (r *Record) logEvent(e end, event, reason string) {
	l := r.reporter.beginDeed(e.at, event)
	l.add("pool", r.call.PoolName())
	l.add("method", method(r.call))
	if c := r.call.Single(); c != nil && event == deedNames[Made] {
		l.add("tool", c.Name)
	}
	l.add("task", r.subject())
	l.add("upstream", r.Upstream)
	l.add("holder", r.Holder)
	l.add("reason", reason)
	if r.Code != 0 {
		l.count("code", int64(r.Code))
	}
	l.count("status", int64(r.Status))
	l.set("outcome", e.outcome)
	l.addWho(r.call)
	if session := cmp.Or(r.call.Session, r.Session); session != "" {
		l.set("session", seal.Digest(session))
	}
	if r.span != nil {
		if trace := r.span.SpanContext().TraceID(); trace.IsValid() {
			l.set("trace", trace.String())
		}
	}
	l.text.End()
}

// subject is the id of the task that the request is about.
func (r *Record) subject() string {
	if id := cmp.Or(r.deedOn, r.Task); id != "" {
		return id
	}
	if c := r.call.Single(); c != nil {
		return c.TaskID
	}
	return ""
}

// ToldOnStream notes that a subscriber was given the result of a task, at upstream or by holder.
func (r *Reporter) ToldOnStream(call *inbound.Call, task, upstream, holder string) {
	if r.deeds == nil || !r.isNews(call, task) {
		return
	}
	l := r.beginDeed(time.Now(), deedNames[Told])
	l.add("pool", call.PoolName())
	if c := call.Single(); c != nil {
		l.add("method", c.Method)
	}
	l.add("task", task)
	l.add("upstream", upstream)
	l.add("holder", holder)
	l.addWho(call)
	l.text.End()
}

// addWho adds whom the deed is of.
func (l *line) addWho(call *inbound.Call) {
	if call.Principal != "" {
		l.set("caller", seal.Digest(call.Principal))
	}
	l.add("client", call.Address())
}

// isNews reports whether the caller is told the result of a task for the first time at this berth.
func (r *Reporter) isNews(call *inbound.Call, task string) bool {
	return r.deeds.IsFirst(strings.Join([]string{call.PoolName(), call.Principal, task}, "\x00"))
}

// beginDeed begins a line of the audit log. Its End has it go out.
func (r *Reporter) beginDeed(at time.Time, event string) line {
	l := line{text: r.deeds.Begin(at)}
	l.set("event", event)
	return l
}
