package course

import "berth/routing"

// inquirer asks the fleet for a request.
type inquirer struct{ r *Routed }

// Questions implements routing.Inquirer: they are put from the request as it is now, and may still be put when it
// is over.
func (i inquirer) Questions() routing.Questions {
	i.r.Keep()
	asking := i.r.wayFrom(i.r.stood)
	return routing.Questions{Credential: i.r.Credential(), Task: asking.AskTask, Session: asking.AskSession}
}

// Missing implements routing.Inquirer. A caller who names too many unknown ids is told to slow down
// before the fleet is asked for another. What the map knows is not concerned, so that nobody is
// kept from a task of his own by what others at the same address guess.
func (i inquirer) Missing() error {
	if i.sawEnd() {
		return nil
	}
	return i.r.Guide.Gate.MayMiss(i.r.Caller)
}

// sawEnd reports whether the end of the task was seen here: then its id is no guess.
func (i inquirer) sawEnd() bool { return i.r.AboutTask && i.r.Guide.Stale.End(i.r.Call) != nil }

// Bystander asks nobody, and counts nothing for the caller.
func (r *Routed) Bystander() routing.Inquirer { return bystander{inquirer{r}} }

// bystander implements routing.Inquirer for who only looks; its router asks it no Questions.
type bystander struct{ inquirer }

func (b bystander) Missing() error {
	if b.sawEnd() {
		return nil
	}
	return b.r.Guide.Gate.WouldMiss(b.r.Caller)
}
