package command

import (
	"berth/internal/admin"
	"berth/internal/adminapi"
)

// routes are what the admin listener offers operators.
func (s *site) routes() []admin.Route {
	return adminapi.New(adminapi.Options{Pools: s.pools, Drains: s.drains, Reopens: s.reopens, Troubles: s.troubles, Work: s.work()}).Routes()
}
