package proxy

import (
	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/proxy/inbound"
	"berth/proxy/standing"
	"berth/routing"
)

// Standing are the streams of clients that stand at this berth.
func (p *Proxy) Standing() []*standing.Stream { return p.standing.All() }

// stands is what operators are told of the stream that answers c.
func stands(c *inbound.Call, kind string) standing.What {
	stream := standing.What{Pool: c.PoolName(), Kind: kind}
	if c.Principal != "" {
		stream.Caller = seal.Digest(c.Principal)
	}
	if one := c.Single(); one != nil {
		if named, ok := one.Listen.Find(mcp.FilterTasks); ok {
			stream.Tasks = len(named.List)
		}
	}
	return stream
}

// giveBack releases the lease by which a request was sent, or leaves what it holds to the stream that stands by it, nil for none.
func giveBack(lease *routing.Lease, s *stream) {
	if s != nil && s.lease == nil {
		s.lease = lease.HandOver()
		return
	}
	lease.Release()
}
