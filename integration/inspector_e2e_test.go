//go:build e2e

package integration

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inspectWithin bounds one command of the Inspector.
const inspectWithin = time.Minute

// inspect runs the published Inspector's command line against an MCP endpoint and
// decodes its result into result.
func inspect(t testing.TB, result any, url, era string, args ...string) {
	t.Helper()
	line := append([]string{"--cli", url, "--protocol-era", era, "--format", "json", "--quiet"}, args...)
	command := nodeCommand(t, filepath.Join(packagesDir, "inspector/clients/launcher/build/index.js"), line...)
	command.Env = append(command.Environ(), "HOME="+t.TempDir()) // it keeps a catalogue there
	var answer bytes.Buffer
	command.Stdout = &answer
	start(t, "inspector", command).awaitExit(t, inspectWithin)
	envelope := struct{ Result any }{Result: result}
	if err := json.Unmarshal(answer.Bytes(), &envelope); err != nil {
		t.Fatalf("%v: %v\n%s", args, err, &answer)
	}
}

type toolResult struct {
	Content []struct {
		Text string `json:"text"`
	} `json:"content"`
}

func (r toolResult) wantText(t testing.TB, want string) {
	t.Helper()
	if len(r.Content) == 0 || !strings.Contains(r.Content[0].Text, want) {
		t.Errorf("tool result: got %v, want one with %q", r.Content, want)
	}
}

func TestInspectorRunsTasksOfTheExtension(t *testing.T) {
	for _, answers := range []answers{jsonAnswers, sseAnswers} {
		t.Run(string(answers), func(t *testing.T) {
			t.Parallel()
			fleet := tasksFleet(t, 3, answers)
			url := startBerth(t, fleet).url()

			var tools struct{ Tools []struct{ Name string } }
			inspect(t, &tools, url, "modern", "--method", "tools/list")
			if len(tools.Tools) == 0 {
				t.Error("tools/list: got no tools, want some")
			}

			var result toolResult
			inspect(t, &result, url, "modern", "--method", "tools/call",
				"--tool-name", "slow_compute", "--tool-args-json", `{"seconds":0.5,"label":"inspected"}`)
			result.wantText(t, "inspected done")
		})
	}
}

func TestInspectorLoadIsSharedByTheFleet(t *testing.T) {
	t.Parallel()
	fleet := tasksFleet(t, 3, jsonAnswers)
	var load struct{ Requests, OK int }
	inspect(t, &load, startBerth(t, fleet).url(), "modern", "--method", "tools/call",
		"--tool-name", "slow_compute", "--tool-args-json", `{"seconds":0.2,"label":"load"}`,
		"--load", "--load-concurrency", "10", "--load-requests", "100")
	if load.OK != 100 {
		t.Errorf("load: got %d of %d calls right, want 100 of 100", load.OK, load.Requests)
	}
	fleet.wantAllAtWork(t, stats.tasks)
	fleet.wantToolCalls(t, 100)
}

// In era auto the Inspector asks with server/discover first and takes the legacy
// server's refusal as the sign to initialize: one URL serves both.
func TestInspectorFindsTheLegacyEra(t *testing.T) {
	t.Parallel()
	fleet := everythingFleet(t, 3)
	var result toolResult
	inspect(t, &result, startBerth(t, fleet).url(), "auto", "--method", "tools/call",
		"--tool-name", "simulate-research-query", "--tool-args-json", `{"topic":"inspected"}`)
	result.wantText(t, "Research Report: inspected")
}
