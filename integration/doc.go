// Package integration runs the built berth program against real parts: published
// MCP servers and clients, the official conformance suite, redis-server, nginx,
// chromium. Nothing in it is a mock; the fixture servers of parts/servers and godriver/taskless are built on
// published packages, because none comes with a task table, with the suite's tools, or with
// plain ones that ask in mid-call; published servers are counted from outside.
// Tests of faults put internal/mcptest behind berth, real servers within the test
// process, which count what reaches them and hold answers back on demand.
//
// What the tests hold berth to: through berth and a fleet of three, the suite gives
// the verdicts that it gives to a single instance without berth (testdata/golden), and
// where rules upgrade the tools of a server that knows no tasks, those of one that has
// them; every call of a real client comes back right, no poll is lost, and all instances
// of the fleet share the work. A plain round robin in berth's place fails the same
// checks, and a test sees it fail.
//
// Before servers of the legacy era alone (bridge_*_test.go) a berth is a modern server: the suite's
// modern core gives the verdicts of one, but for those that no bridge can turn (impossible), and a
// call that asks in mid-call goes on through its rounds, through any berth, and runs once.
// parts/servers/legacy-fixture.js writes each execution down, for the suite cannot see one too many.
//
// setup/setup.sh installs the parts; `make test` and `make e2e` run it. Where a part
// is missing, the tests that need it are skipped and name it; with CI=true or
// BERTH_REQUIRE_PARTS=1 they fail. Tests of the long tier carry the build tag e2e;
// `make e2e` runs these and not those of `make test` again.
// BERTH_BINARY names a berth to test in place of one built from this source.
// BERTH_TEST_HTTP1=net/http has each berth serve with --http1 net/http. The
// flag -update writes the golden verdicts anew, from runs without berth.
//
// Everything listens on loopback and is killed by its process id when its test ends.
package integration
