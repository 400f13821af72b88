package integration

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"
)

// instance is one real MCP server of a fleet.
type instance struct {
	*process

	// base is http://host:port; the MCP endpoint is below it at /mcp.
	base string
}

func (i *instance) url() string { return i.base + "/mcp" }

// stats are an instance's counts of its own work. Servers that keep none of their
// own are counted by parts/servers/counted.js, or by a toolCounter.
type stats struct {
	Posts        int `json:"posts"`        // POSTs of any kind
	ToolCalls    int `json:"toolCalls"`    // tools run
	Tasks        int `json:"tasks"`        // tasks created
	Polls        int `json:"polls"`        // tasks/get received
	UnknownPolls int `json:"unknownPolls"` // of these, for a task of another instance

	// Of servers whose tools are plain: they count one in ToolCalls when it has ended.
	Questions int `json:"questions"` // asked, or rounds that ended with one
	CutOff    int `json:"cutOff"`    // tools that ended because their call was withdrawn
	Running   int `json:"running"`   // tools, or rounds, under way
	Deletes   int `json:"deletes"`   // sessions whose end was asked for; the interactive server's
	Sessions  int `json:"sessions"`  // that there are; of the legacy fixture
	Repeats   int `json:"repeats"`   // of these, begun again with the same arguments
}

// What a check may pick of the counts.
func (s stats) posts() int     { return s.Posts }
func (s stats) toolCalls() int { return s.ToolCalls }
func (s stats) tasks() int     { return s.Tasks }
func (s stats) questions() int { return s.Questions }
func (s stats) cutOff() int    { return s.CutOff }
func (s stats) running() int   { return s.Running }
func (s stats) repeats() int   { return s.Repeats }
func (s stats) deletes() int   { return s.Deletes }

// statsWithin bounds one look at an instance's counts.
const statsWithin = 10 * time.Second

func (i *instance) stats(t testing.TB) stats {
	t.Helper()
	client := http.Client{Timeout: statsWithin}
	response, err := client.Get(i.base + "/__stats")
	if err != nil {
		t.Fatalf("counts of %s: %v", i.name, err)
	}
	defer response.Body.Close()
	var counted stats
	if err := json.NewDecoder(response.Body).Decode(&counted); err != nil {
		t.Fatalf("counts of %s: %v", i.name, err)
	}
	return counted
}

// fleet is several instances of one MCP server, interchangeable for new work.
type fleet []*instance

func (f fleet) urls() []string {
	urls := make([]string, 0, len(f))
	for _, i := range f {
		urls = append(urls, i.url())
	}
	return urls
}

// sum adds up what counted picks, over the fleet.
func (f fleet) sum(t testing.TB, counted func(stats) int) int {
	t.Helper()
	sum := 0
	for _, i := range f {
		sum += counted(i.stats(t))
	}
	return sum
}

// wantAllAtWork fails the test if an instance did none of the work that counted picks.
func (f fleet) wantAllAtWork(t testing.TB, counted func(stats) int) {
	t.Helper()
	for _, i := range f {
		if got := counted(i.stats(t)); got == 0 {
			t.Errorf("instance %s: got no work, want some", i.name)
		}
	}
}

// wantToolCalls fails the test if the fleet ran more or fewer tools than calls were
// made: more means that a call was repeated, fewer that one was lost.
func (f fleet) wantToolCalls(t testing.TB, want int) {
	t.Helper()
	got := f.sum(t, stats.toolCalls)
	if got != want {
		t.Errorf("tools run by the fleet: got %d, want %d", got, want)
	}
}
