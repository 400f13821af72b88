// Package site is a berth by what its configuration says: the graph of parts that serves clients, taken over from one reading of
// the configuration to the next, and ended. It knows no verb, flag, signal or file of the configuration: package command does.
//
// A [Site] outlives a reading of the configuration; what one reading makes is a generation, which does not change. [New] connects, and
// asks nothing but the store; [Site.Begin] has it serve; [Site.Prepare] and [Prepared.Use] take over
// another configuration, all or nothing.
//
// It promises that a request ends in the generation in which it began, that what fails while a generation is made changes nothing
// that serves, and that what a generation alone uses ends with its last request. [Inspect] looks at what a configuration names by the
// parts that would serve, and binds no address, leaves nothing written and calls no tool.
//
// It costs a request two atomic additions.
//
//	site.go, generation.go, follow.go         what lasts, what one reading makes, how one takes over
//	endpoint.go, health.go, fleet.go,         a pool: its face, its settings, who is in it, what sends to it
//	  discover.go, senders.go, servertls.go
//	auth.go, rates.go, upgrade.go, webhook.go callers, rates, tasks, receivers
//	store.go, certs.go, entrances.go          what a site stands on
//	routes.go, work.go, limits.go, pools.go,  what operators and probes are told
//	  self.go, checks.go, liveness.go
//	leaving.go                                how it goes
//	keyed.go                                  of which key an error is
//	online.go, meeting.go, look.go            what check --online finds
package site
