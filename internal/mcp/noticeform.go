package mcp

import (
	"bytes"
	"strings"
	"sync/atomic"

	"berth/internal/jsonscan"
	"berth/internal/recall"
)

// noticeForm is the form of notifications whose params say nothing of a task. Its gaps are the params' values: what a server logs, how far
// it is, and for which token.
type noticeForm struct {
	recall.Form
	method string
}

// noticeForms are those that were read last.
var noticeForms = recall.New[recall.Alike[noticeForm]](1 << 5)

// How notifications begin, before what they are about.
var (
	noticeBegins     = []byte(`{"jsonrpc":"2.0","method":"notifications/`)
	noticeBeginsBare = []byte(`{"method":"notifications/`)
)

// placeOfNoticeForm is where the form of a notification is to be; nil: data is none, or begins as few do.
func placeOfNoticeForm(data []byte) *atomic.Pointer[recall.Alike[noticeForm]] {
	about, is := bytes.CutPrefix(data, noticeBegins)
	if !is {
		about, is = bytes.CutPrefix(data, noticeBeginsBare)
	}
	if !is {
		return nil
	}
	return noticeForms.Place(recall.WordAt(about, 0), recall.WordAt(about, 8))
}

// recallNotice reads the notification, if its form is known.
func (r *answerReader) recallNotice(a *Answer, place *atomic.Pointer[recall.Alike[noticeForm]]) bool {
	for _, f := range recall.Those(place) {
		s, found := jsonscan.New(r.Text()), recall.Gaps{}
		if f.Fits(&s, &found) {
			a.Method = f.method
			return true
		}
	}
	return false
}

// rememberNotice has messages like the notification that was read be known, if nothing stands in it but what most have.
func (r *answerReader) rememberNotice(a *Answer) {
	if r.cut || r.subscribed != nil || r.Err() != nil || r.seen != memberMethod|memberParams || r.strange || r.inside&taskMembers != 0 {
		return
	}
	place := placeOfNoticeForm(r.Text())
	if place == nil || !recall.HasRoom(&noticeForms, place) {
		return
	}
	if text, ok := recall.FormOf(r.Text(), &r.gaps); ok {
		recall.Remember(place, &noticeForm{Form: text, method: strings.Clone(a.Method)})
	}
}
