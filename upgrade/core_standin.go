package upgrade

import "berth/internal/mcp"

func (v View) Core() mcp.CoreTask {
	return mcp.CoreTask{
		ID: v.ID, Status: v.Status(), Message: v.Message, Created: v.Created, Updated: v.Updated,
		TTL: v.Terms.TTL, PollInterval: v.Terms.PollInterval,
	}
}
