package goals

import "berth/integration/bench/report"

// Names of contenders, as they stand in rows.
const (
	berth         = "berth"
	berthQuiet    = "berth, no log"
	berthRedis    = "berth, redis"
	berthTLS      = "berth, TLS"
	berthOne      = "berth, 1 core"
	berthTwo      = "berth, 2 cores"
	berthFew      = "berth, 10 k tasks"
	berthMany     = "berth, 1 M tasks"
	upgraded      = "berth, upgraded"
	upgradedRedis = "berth, upgraded, redis"
	nginx         = "nginx"
	nginxQuiet    = "nginx, no log"
	nginxTLS      = "nginx, TLS"
	haproxy       = "HAProxy"
)

var (
	cpu         = ratio("CPU, × nginx", report.CPU)
	cpuOfFew    = ratio("CPU, × 10,000 bindings", report.CPU)
	cpuOfRouted = ratio("CPU, × a routed tools/call", report.CPU)
	allocations = plain("allocations", report.Allocs)
	memory      = plain("KiB each", report.Each)
)

// All are the goals.
func All() []Goal {
	return []Goal{
		{Kind: "tasks/get", Work: "tasks/get, neither logs", measure: cpu, Bound: 1, Contenders: of(berthQuiet, nginxQuiet)},
		{Kind: "tasks/get", Work: "tasks/get, both log", measure: cpu, Bound: 1.1, Contenders: of(berth, nginx)},
		{Kind: "tasks/get", Work: "tasks/get, berth alone logs", measure: cpu, Bound: 1, Contenders: of(berth, nginxQuiet)},
		{Kind: "tools/call", measure: cpu, Bound: 1.1, Contenders: of(berth, nginx)},
		{Kind: "miss", Work: "tasks/get, LRU miss on Redis", measure: cpu, Bound: 1.5, Contenders: of(berthRedis, nginx)},
		{Kind: "creation", Work: "creation on Redis", measure: cpu, Bound: 1.8, Contenders: of(berthRedis, nginx)},
		{Kind: "creation", Work: "creation on Redis", measure: above("p50 paced above nginx's, µs", report.PacedP50), Bound: 75, Contenders: of(berthRedis, nginx)},
		{Kind: "tls", Work: "tasks/get, TLS 1.3, keep-alive", measure: cpu, Bound: 1.3, Contenders: of(berthTLS, nginxTLS)},
		{Kind: "tasks/get", Work: "tasks/get, open loop", measure: ratio("p50 paced, × HAProxy", report.PacedP50), Bound: 1, Contenders: of(berth, haproxy)},
		{Kind: "tasks/get", Work: "tasks/get, open loop", measure: ratio("p99 paced, × nginx", report.PacedP99), Bound: 2, Contenders: of(berth, nginx)},
		{Kind: "streams", Work: "standing streams", measure: memory, Bound: 16, Contenders: of(berth)},
		{Kind: "streams", Work: "standing streams, an event", measure: cpu, Bound: 1, Contenders: of(berth, nginx)},
		{Kind: "streams", Work: "standing streams, an event", measure: ratio("p50 paced, × nginx", report.PacedP50), Bound: 1, Contenders: of(berth, nginx)},
		{Kind: "tasks/get", measure: allocations, Bound: 6, Contenders: of(berth)},
		{Kind: "creation", Work: "creation on Redis", measure: allocations, Bound: 20, Contenders: of(berthRedis)},
		{Kind: "cores", Work: "two cores, berth and its load", measure: ratio("requests a second, × one core", report.PerSecond), Bound: 1.8, Least: true, Contenders: of(berthTwo, berthOne)},
		{Kind: "cores", Work: "two cores, berth's part", measure: measure{"requests a second, × one core", carried, times}, Bound: 1.8, Least: true, Contenders: of(berthTwo, berthOne)},
		{Kind: "held", Work: "held calls, memory", measure: memory, Bound: 20, Contenders: of(upgraded)},
		{Kind: "held", Work: "held calls, Redis", measure: memory, Bound: 20, Contenders: of(upgradedRedis)},
		{Kind: "million-polls", Work: "1 M bindings, a poll", measure: cpuOfFew, Bound: 1.05, Contenders: of(berthMany, berthFew)},
		{Kind: "million-creations", Work: "1 M bindings, a creation", measure: cpuOfFew, Bound: 1.05, Contenders: of(berthMany, berthFew)},
		{Kind: "upgraded", Work: "upgraded call to its outcome, memory", measure: cpuOfRouted, Bound: 3, Contenders: of(upgraded, berth)},
		{Kind: "upgraded", Work: "upgraded call to its outcome, Redis", measure: cpuOfRouted, Bound: 5, Contenders: of(upgradedRedis, berth)},
		{Work: "every poll", measure: measure{"misrouted, %", misrouted, "%.3g"}, Bound: 0},
	}
}

func of(contenders ...string) []string { return contenders }
