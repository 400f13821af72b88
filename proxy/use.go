package proxy

import (
	"berth/proxy/admission"
	"berth/proxy/standing"
)

// Use is what requests hold of the limits at present.
type Use struct {
	admission.Use
	LastSeen int64 // bytes of tasks that are remembered for the time that their owners are silent
}

// Use tells what is held, by the requests of this proxy and of those before it.
func (p *Proxy) Use() Use { return Use{p.gate.Use(), p.stale.Held()} }

// Refused is how many requests were turned away for want of what a limit bounds: the words are those of
// berth.shed.
func (p *Proxy) Refused(why ...string) int64 { return p.gate.Refused(why...) }

// RefusedBy is how many a rule about tools has turned away.
func (p *Proxy) RefusedBy(rule string) int64 { return p.gate.RefusedBy(rule) }

// Standing are the streams of clients that stand at this berth.
func (p *Proxy) Standing() []*standing.Stream { return p.standing.All() }
