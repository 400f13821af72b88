package task

import (
	"slices"
	"strconv"
	"strings"
)

// Webhook is a receiver that is told how tasks of a rule fare.
type Webhook struct {
	Name   string `json:"to"` // of the receiver in the configuration
	Events []News `json:"on"` // that it is told of
}

// News is something that webhooks tell, as the type of a message spells it after "task.".
type News string

const (
	NewsCompleted News = "completed"
	NewsFailed    News = "failed"
	NewsCancelled News = "cancelled"
	NewsAsked     News = "input_required"
)

// Message is one thing that one receiver is to be told. It is made before the step that it is about,
// and says nothing but where to look: the record decides.
type Message struct {
	To    string // the receiver's name
	Task  string
	About string // "end", or in which round what is asked
}

// aboutEnd is what a message is about whose task has ended. There is one such for a receiver, however
// many steps try to end the task.
const aboutEnd = "end"

// Messages are what receivers are to be told of a step from before to t; none for a task that has no
// receivers, nor of one that had ended before.
func (t *Task) Messages(before *Task) (told []Message) {
	if len(t.Terms.Webhooks) == 0 || before.State.Terminal() {
		return nil
	}
	news, about := t.tidings(before)
	for _, webhook := range t.Terms.Webhooks {
		if slices.Contains(webhook.Events, news) {
			told = append(told, Message{webhook.Name, t.ID, about})
		}
	}
	return told
}

// AllMessages are what receivers may be told of a task, that it asks for something aside.
func (t *Task) AllMessages() (all []Message) {
	for _, webhook := range t.Terms.Webhooks {
		all = append(all, Message{webhook.Name, t.ID, aboutEnd})
	}
	return all
}

// tidings are what a step from before to t is worth telling; "" where there are none.
func (t *Task) tidings(before *Task) (news News, about string) {
	if t.State.Terminal() {
		return t.News(), aboutEnd
	}
	var asked []string
	for _, ask := range t.OpenAsks() {
		if !slices.ContainsFunc(before.OpenAsks(), func(a Ask) bool { return a.Key == ask.Key }) {
			asked = append(asked, ask.Key)
		}
	}
	if asked == nil {
		return "", ""
	}
	return NewsAsked, strconv.Itoa(t.Round) + aboutMark + Digest(asked...)
}

// aboutMark stands behind the round. Berths up to 0.11 do not say which that is.
const aboutMark = "."

// asks reports whether a task that asks something asks what the message is about.
func (m Message) asks(t *Task) bool {
	round, digest, told := strings.Cut(m.About, aboutMark)
	switch {
	case !told:
		return true
	case round != strconv.Itoa(t.Round):
		return false
	case t.Call == "": // what is asked in one round is answered as a whole
		return true
	}
	return slices.ContainsFunc(t.OpenAsks(), func(a Ask) bool { return Digest(a.Key) == digest })
}

// News is what there is to tell of the task as it stands; "" if nothing is. A tool that failed has
// failed the task of a client of 2025-11-25, as that client is shown it.
func (t *Task) News() News {
	switch {
	case t.State == Completed && t.ToolFailed && t.Call != "":
		return NewsFailed
	case t.State.Terminal():
		return News(t.State)
	case len(t.OpenAsks()) > 0:
		return NewsAsked
	}
	return ""
}

// Standing is what there is to tell now of what a message is about; "" if nothing is yet, or any more.
// wanted is false where its receiver does not hear of that: another step was first.
func (m Message) Standing(t *Task) (news News, wanted bool) {
	news = t.News()
	if (news == NewsAsked) == m.IsEnd() || news == NewsAsked && !m.asks(t) {
		return "", true
	}
	return news, slices.ContainsFunc(t.Terms.Webhooks, func(w Webhook) bool { return w.Name == m.To && slices.Contains(w.Events, news) })
}

// IsEnd reports whether the message tells of the task's end.
func (m Message) IsEnd() bool { return m.About == aboutEnd }

// Member is the message as it stands in its receiver's list, and ParseMember reads it.
func (m Message) Member() string { return m.Task + " " + m.About }

func ParseMember(to, member string) (m Message, ok bool) {
	task, about, ok := strings.Cut(member, " ")
	return Message{to, task, about}, ok && task != "" && about != ""
}

// ID names the message for its receiver: the same for each attempt, from whichever berth.
func (m Message) ID() string { return "msg_" + Digest("webhook", m.To, m.Task, m.About) }

// TriesKey is where the store has the message's tries.
func (m Message) TriesKey() string {
	return "upgrade:{" + m.Task + "}:webhook:" + Digest(m.To, m.About)
}
