package proxy

import (
	"berth/internal/mcp"
)

// openAlias reads the alias that the decision bears. One that cannot be opened is no
// way to the session.
func (x *request) openAlias() error {
	alias, err := x.way().AliasIn(x.decision.Alias)
	if err != nil {
		x.p.log.Warn("the alias of a session cannot be read", "pool", x.PoolName(), "error", err)
		return mcp.ErrUnknownSession
	}
	x.Alias = alias
	return nil
}
