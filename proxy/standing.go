package proxy

import (
	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/proxy/standing"
	"berth/routing"
)

// Standing are the streams of clients that stand at this berth.
func (p *Proxy) Standing() []*standing.Stream { return p.standing.All() }

// stands notes that the request's stream stands, until what it returns is ended.
func (x *request) stands(kind string) *standing.Stream {
	stream := standing.What{Pool: x.PoolName(), Kind: kind}
	if x.Principal != "" {
		stream.Caller = seal.Digest(x.Principal)
	}
	if c := x.Single(); c != nil {
		if named, ok := c.Listen.Find(mcp.FilterTasks); ok {
			stream.Tasks = len(named.List)
		}
	}
	return x.p.standing.Begin(stream)
}

// giveBack releases the lease by which a request was sent, or leaves what it holds to the stream that stands by it.
func (x *request) giveBack(lease *routing.Lease) {
	if s := x.standing; s != nil && s.lease == nil {
		s.lease = lease.HandOver()
		return
	}
	lease.Release()
}
