//go:build e2e

package integration

import (
	"os/exec"
	"testing"
)

// goTasks is the published Go client trpc-mcp-go, for tasksFleet.
func goTasks(t testing.TB) *exec.Cmd {
	return exec.Command(built(t, "godriver"))
}

// matrix is every real client with a fleet of real servers that it fits.
var matrix = []struct {
	name   string
	driver driver
	fleet  func(t testing.TB) fleet

	// work is the count by which an instance shows that it took part.
	work func(stats) int

	// counts tells whether the fleet counts the tools that it runs.
	counts bool
}{
	{
		name:   "TypeScript client with ext-tasks, JSON",
		driver: extensionTasks,
		fleet:  func(t testing.TB) fleet { return tasksFleet(t, 3, jsonAnswers) },
		work:   stats.tasks,
		counts: true,
	},
	{
		name:   "TypeScript client with ext-tasks, SSE",
		driver: extensionTasks,
		fleet:  func(t testing.TB) fleet { return tasksFleet(t, 3, sseAnswers) },
		work:   stats.tasks,
		counts: true,
	},
	{
		name:   "TypeScript SDK v1 with callToolStream",
		driver: coreTasks,
		fleet:  func(t testing.TB) fleet { return everythingFleet(t, 3) },
		work:   stats.posts,
	},
	{
		name:   "Go client trpc-mcp-go, JSON",
		driver: goTasks,
		fleet:  func(t testing.TB) fleet { return tasksFleet(t, 3, jsonAnswers) },
		work:   stats.tasks,
		counts: true,
	},
	{
		name:   "Go client trpc-mcp-go, SSE",
		driver: goTasks,
		fleet:  func(t testing.TB) fleet { return tasksFleet(t, 3, sseAnswers) },
		work:   stats.tasks,
		counts: true,
	},
}

// matrixCalls is how many calls each client makes, all at once.
const matrixCalls = 60

func TestClientsThroughOneBerth(t *testing.T) {
	for _, m := range matrix {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			fleet := m.fleet(t)
			got := drive(t, m.driver, startBerth(t, fleet).url(), matrixCalls)
			t.Logf("%v", got)
			got.wantAllRight(t)
			fleet.wantAllAtWork(t, m.work)
			if m.counts {
				fleet.wantToolCalls(t, matrixCalls)
			}
		})
	}
}
