// Package proxy is the HTTP face of berth: it takes one client request from accept to the last
// byte of its answer, lets nothing out that is not recorded, and alone decides where a request
// goes next; the packages below return verdicts.
//
//	accept         request.go, inbound/ (endpoint, Host and Origin, who asks), admission/
//	classify       inbound/ (body, envelope, routing headers), inbound/plan.go (what concerns the request)
//	plan           forward.go, course/ (who serves the request), access/ (may it know of the task)
//	route          route.go, course/ (whom it is for); package routing decides
//	send           owned.go (to the owner), eras.go (unbound), headers.go, lingering/; outbound/ (in whose name; health)
//	observe        relay.go (JSON), events.go, eventsout.go and aside.go (streams), observe.go, owed.go
//	record         record/ (tasks, sessions, values), draft/ (ids that clients make)
//	release        reply/ (body, events, keep-alive), earlystream.go
//	report         finish.go, audit/
//	subscriptions  listen.go, subscribe/; standing/ (which stand)
//	lists          lists.go, tasklist/
//	berth's tasks  astask.go, tasks/, taskwatch/ (who is told), sessiontasks/ and sessionend.go (in sessions)
//	moves          moved.go, failover/ (where to), session/ (opens it there), leaving.go (streams that end for it)
//	other eras     bridge/ (legacy upstreams for modern clients), resident/ (whose sessions live in one berth)
//	shared polls   polls.go, polls/ (and the stale cache)
//	announcements  announce/ (what servers and tools say gains tasks)
//	explained      explain/ (where a request would go, and why, for operators)
//	refusals       finish.go, fault/ (all words of berth's own, one ladder)
//	drain          drain.go
//	the rest       proxy.go, options.go and lasting.go (parts), use.go (what is held), passthrough.go, resource.go (OAuth)
//
// What serves a request (serving.go) is used again for the next one, where nobody can have anything of it any more. A
// step that goes on beside its request, or after it, says so (course.Routed.Keep) and gets a copy of what was lent.
package proxy
