package command

import "berth/internal/admin"

// routes are what the admin listener offers operators; each verb that uses one stands beside it.
func (s *site) routes() []admin.Route {
	return s.drainRoutes()
}
