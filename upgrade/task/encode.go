package task

import (
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// The versions of the stored form. A berth that knows the plain one alone does not read a task of which something is kept beside the
// record: it would take what stands for that for an answer.
const (
	format      = 1
	asideFormat = 2
)

func (t *Task) formatOf() int64 {
	if len(t.Asides()) > 0 {
		return asideFormat
	}
	return format
}

// Encode returns the stored form: a JSON object with the members that the tags of Task name, less what is empty. A
// record is written with each step, and reflection took a twentieth of all that an upgraded call costs.
func (t *Task) Encode() []byte {
	w := writers.Get().(*writer)
	defer w.giveBack()
	*w = strconv.AppendInt(append((*w)[:0], `{"v":`...), t.formatOf(), 10)
	w.text("id", t.ID)
	w.text("pool", t.Pool)
	w.text("tool", t.Tool)
	w.text("version", t.Version)
	w.text("principal", t.Principal)
	w.text("creator", t.Credentials)
	w.text("creator_named", t.Named)
	w.text("caller", t.Caller)
	w.number("size", t.Size)
	w.once(t.Once)
	w.text("declares", string(t.Declares))
	w.text("origin", t.Origin)
	w.text("state", string(t.State))
	w.text("message", t.Message)
	w.time("created", t.Created)
	w.time("updated", t.Updated)
	w.terms(&t.Terms)
	w.text("call", t.Call)
	w.text("session", t.Session)
	w.text("behind", t.Behind)
	w.raw("progress_token", t.ProgressToken)
	w.text("event", t.Event)
	w.raw("progress", t.Progress)
	w.said(t.Said)
	w.text("holder", t.Holder)
	w.flag("left", t.Left)
	w.number("round", int64(t.Round))
	w.text("upstream", t.Upstream)
	w.text("follows", t.Follows)
	w.flag("handed", t.Handed)
	w.time("withheld", t.Withheld)
	w.asks(t.Asks)
	texts(w, "asked", t.Asked)
	w.flag("answered", t.Answered)
	w.raw("request_state", t.RequestState)
	w.text("outcome", t.Outcome)
	w.flag("tool_failed", t.ToolFailed)
	texts(w, "ops", t.Ops)
	w.text("steps", string(t.Steps))
	w.again(&t.Again)
	return append(append(make([]byte, 0, len(*w)+1), *w...), '}') // what is kept in memory has no room to spare
}

func (w *writer) once(o Once) {
	if o != (Once{}) {
		w.open("once")
		w.text("name", o.Name)
		w.text("question", o.Question)
		*w = append(*w, '}')
	}
}

func (w *writer) terms(t *Terms) {
	place := t.place()
	if last := place.Load(); last != nil && last.of.equal(t) {
		*w = append(*w, last.text...)
		return
	}
	begin := len(*w)
	w.open("terms")
	w.number("ttl", int64(t.TTL))
	w.number("poll_interval", int64(t.PollInterval))
	w.number("timeout", int64(t.Timeout))
	w.number("max_result", t.MaxResult)
	w.flag("rerun", t.Rerun)
	w.flag("unlisted", t.Unlisted)
	w.number("slots", int64(t.Slots))
	w.text("queue", t.Queue)
	w.webhooks(t.Webhooks)
	*w = append(*w, '}')
	if len(t.Webhooks) == 0 {
		kept := *t
		kept.Queue = strings.Clone(t.Queue) // and no part of a record
		place.Store(&writtenTerms{kept, string((*w)[begin:])})
	}
}

// writtenTerms are terms, and how they stand in a record, behind other members.
type writtenTerms struct {
	of   Terms
	text string
}

// lastTerms were written last: all that a rule makes has the same, and most are numbers of many digits.
var lastTerms [8]atomic.Pointer[writtenTerms]

// place is where such terms are to be, as those of another rule rarely are.
func (t *Terms) place() *atomic.Pointer[writtenTerms] {
	n := uint64(t.TTL/time.Second) + uint64(t.Timeout/time.Second) + uint64(t.PollInterval/time.Millisecond) + uint64(len(t.Queue))
	return &lastTerms[n%uint64(len(lastTerms))]
}

// equal reports whether two terms are known to be the same. Those with receivers are not.
func (t *Terms) equal(other *Terms) bool {
	return t.TTL == other.TTL && t.PollInterval == other.PollInterval && t.Timeout == other.Timeout && t.MaxResult == other.MaxResult &&
		t.Rerun == other.Rerun && t.Unlisted == other.Unlisted && t.Slots == other.Slots && t.Queue == other.Queue &&
		len(t.Webhooks) == 0 && len(other.Webhooks) == 0
}

func (w *writer) again(a *Again) {
	if *a != (Again{}) {
		w.open("again")
		w.text("id", a.ID)
		w.time("at", a.At)
		*w = append(*w, '}')
	}
}

func (w *writer) said(all []Said) {
	for i := range all {
		w.element("said", i)
		w.number("n", int64(all[i].N))
		w.raw("message", all[i].Message)
		w.close(i == len(all)-1)
	}
}

func (w *writer) asks(all []Ask) {
	for i := range all {
		w.element("asks", i)
		w.text("key", all[i].Key)
		w.text("upstream", all[i].Upstream)
		w.raw("request", all[i].Request)
		w.raw("answer", all[i].Answer)
		w.close(i == len(all)-1)
	}
}

func (w *writer) webhooks(all []Webhook) {
	for i := range all {
		w.element("webhooks", i)
		w.text("to", all[i].Name)
		texts(w, "on", all[i].Events)
		w.close(i == len(all)-1)
	}
}
