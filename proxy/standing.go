package proxy

import (
	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/proxy/standing"
)

// Standing are the streams of clients that stand at this berth.
func (p *Proxy) Standing() []*standing.Stream { return p.standing.All() }

// stands notes that the request's stream stands, until what it returns is ended.
func (x *request) stands(kind string) *standing.Stream {
	stream := standing.What{Pool: x.PoolName(), Kind: kind}
	if x.Principal != "" {
		stream.Caller = inbound.Digest(x.Principal)
	}
	if c := x.Single(); c != nil {
		if named, ok := c.Listen.Find(mcp.FilterTasks); ok {
			stream.Tasks = len(named.List)
		}
	}
	return x.p.standing.Begin(stream)
}
