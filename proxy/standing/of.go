package standing

import (
	"berth/internal/mcp/listen"
	"berth/internal/seal"
	"berth/proxy/inbound"
)

// Of is what operators are told of the stream that answers c.
func Of(c *inbound.Call, kind string) What {
	stream := What{Pool: c.PoolName(), Kind: kind}
	if c.Principal != "" {
		stream.Caller = seal.Digest(c.Principal)
	}
	if one := c.Single(); one != nil {
		if named, ok := one.Listen.Find(listen.Tasks); ok {
			stream.Tasks = len(named.List)
		}
	}
	return stream
}
