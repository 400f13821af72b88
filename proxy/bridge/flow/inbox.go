package flow

// MaxInbox bounds what a session's own stream has brought for a call that does not read.
const MaxInbox = 64

// Hear has the call hear what came on its session's own stream. It reports whether it may.
func (fl *Flow) Hear(it Item) bool {
	if fl.ctx.Err() != nil || it.Answer.ID == nil && len(fl.Inbox) >= MaxInbox/2 { // the rest is for questions
		return false
	}
	it.Event, _ = fl.event.Load().(string)
	select {
	case fl.Inbox <- &it:
		return true
	default:
		return false
	}
}

// TakeInbox takes what was heard on the session's own stream.
func (fl *Flow) TakeInbox() (heard []Item) {
	for {
		select {
		case it := <-fl.Inbox:
			heard = append(heard, *it)
		default:
			return heard
		}
	}
}
