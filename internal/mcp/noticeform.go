package mcp

import (
	"bytes"
	"strings"
	"sync/atomic"

	"berth/internal/jsonscan"
)

// noticeForm is the form of notifications whose params say nothing of a task. Its gaps are the params' values: what a server logs, how far
// it is, and for which token.
type noticeForm struct {
	form
	method string
}

// noticeForms are those that were read last.
var noticeForms = newMemory[alike[noticeForm]](1 << 5)

// How notifications begin, before what they are about.
var (
	noticeBegins     = []byte(`{"jsonrpc":"2.0","method":"notifications/`)
	noticeBeginsBare = []byte(`{"method":"notifications/`)
)

// placeOfNoticeForm is where the form of a notification is to be; nil: data is none, or begins as few do.
func placeOfNoticeForm(data []byte) *atomic.Pointer[alike[noticeForm]] {
	about, is := bytes.CutPrefix(data, noticeBegins)
	if !is {
		about, is = bytes.CutPrefix(data, noticeBeginsBare)
	}
	if !is {
		return nil
	}
	return noticeForms.place(wordAt(about, 0), wordAt(about, 8))
}

// recallNotice reads the notification, if its form is known.
func (r *answerReader) recallNotice(a *Answer, place *atomic.Pointer[alike[noticeForm]]) bool {
	for _, f := range those(place) {
		s, found := jsonscan.New(r.Text()), gaps{}
		if f.fits(&s, &found) {
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
	if place == nil || !hasRoom(&noticeForms, place) {
		return
	}
	if text, ok := formOf(r.Text(), &r.gaps); ok {
		remember(place, &noticeForm{form: text, method: strings.Clone(a.Method)})
	}
}
