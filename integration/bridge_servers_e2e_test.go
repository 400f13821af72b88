//go:build e2e

package integration

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// publishedServer is one that berth bridges to.
type publishedServer struct {
	name  string
	tools string // of the client scripts
	site  func(t testing.TB) *legacySite

	// tool is one without questions, for clients that are not led by a script.
	tool, args, want string
}

var publishedServers = []publishedServer{
	{"fixture-streamable-http", "legacy", fixtureSite(overResumable), "greet", `{"name":"published"}`, "Hello, published!"},
	{"fixture-http-sse", "legacy", fixtureSite(overSSE), "greet", `{"name":"published"}`, "Hello, published!"},
	{"fixture-stdio", "legacy", fixtureSite(overStdio), "greet", `{"name":"published"}`, "Hello, published!"},
	{"server-everything-streamable-http", "everything", everythingSite, "echo", `{"message":"published"}`, "published"},
	{"server-everything-http-sse", "everything", everythingSSESite, "echo", `{"message":"published"}`, "published"},
	{"server-everything-stdio", "everything", everythingStdioSite, "echo", `{"message":"published"}`, "published"},
	{"server-memory-stdio", "memory", memorySite, "search_nodes", `{"query":"published"}`, "entities"},
	{"server-filesystem-stdio", "filesystem", filesystemSite, "list_allowed_directories", `{}`, "Allowed directories"},
}

func fixtureSite(r reach) func(t testing.TB) *legacySite {
	return func(t testing.TB) *legacySite { return r.startLegacy(t, 3, "--greets") }
}

func everythingSite(t testing.TB) *legacySite {
	f := everythingFleet(t, 3)
	return &legacySite{fleet: f, pool: overPlain.pool(f)}
}

func everythingSSESite(t testing.TB) *legacySite {
	f := newFleet(t, 3, func(name, address string) *exec.Cmd {
		command := everythingCommand(t, name, address)
		command.Args[len(command.Args)-1] = "sse"
		return command
	})
	return &legacySite{fleet: f, pool: overSSE.pool(f)}
}

func published(t testing.TB, name string) string {
	t.Helper()
	script := filepath.Join(packagesDir, name, "dist/index.js")
	requireFile(t, script)
	return script
}

func everythingStdioSite(t testing.TB) *legacySite {
	return &legacySite{pool: "[[pools]]\n" + stdioProcesses(t, 3, node(t), published(t, "server-everything"), "stdio")}
}

// Processes that share a file would overwrite each other's: there is one of each principal.
func memorySite(t testing.TB) *legacySite {
	kept := "MEMORY_FILE_PATH=" + filepath.Join(t.TempDir(), "memory.jsonl")
	return &legacySite{pool: "[[pools]]\n" + stdioProcesses(t, 1, "env", kept, node(t), published(t, "server-memory"))}
}

func filesystemSite(t testing.TB) *legacySite { return filesystemSiteOf(t, greetingDirectory(t)) }

func filesystemSiteOf(t testing.TB, directory string) *legacySite {
	t.Helper()
	return &legacySite{pool: "[[pools]]\n" + stdioProcesses(t, 3, node(t), published(t, "server-filesystem"), directory)}
}

// bridgeFronts are where a client goes: one berth, or two on one Redis, in turn.
var bridgeFronts = []struct {
	name  string
	start func(t testing.TB, s *legacySite, config string) (url string)
}{
	{"one berth", func(t testing.TB, s *legacySite, config string) string { return s.start(t, config).url() }},
	{"two berths", func(t testing.TB, s *legacySite, config string) string {
		store := sharedStore(t)
		var urls []string
		for range 2 {
			urls = append(urls, s.start(t, config, "--store", store).url())
		}
		return roundRobin(t, urls)
	}},
}

func eachServer(t *testing.T, test func(t *testing.T, p publishedServer, url string)) {
	for _, front := range bridgeFronts {
		for _, p := range publishedServers {
			t.Run(front.name+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				test(t, p, front.start(t, p.site(t), ""))
			})
		}
	}
}

// askingTools is the published TypeScript client in the modern era, which goes through the
// rounds of its calls by itself.
func askingTools(tools string) driver {
	return func(t testing.TB) *exec.Cmd {
		return nodeCommand(t, filepath.Join(clientsDir, "asking-tools.js"), "--tools", tools)
	}
}

func TestModernClientOfLegacyServers(t *testing.T) {
	eachServer(t, func(t *testing.T, p publishedServer, url string) {
		got := drive(t, askingTools(p.tools), url, 24)
		t.Logf("%v", got)
		got.wantAllRight(t)
	})
}

func TestInspectorInItsModernEraOfLegacyServers(t *testing.T) {
	eachServer(t, func(t *testing.T, p publishedServer, url string) {
		var tools struct{ Tools []struct{ Name string } }
		inspect(t, &tools, url, "modern", "--method", "tools/list")
		if len(tools.Tools) == 0 {
			t.Error("tools/list: got no tools, want some")
		}
		var result toolResult
		inspect(t, &result, url, "modern", "--method", "tools/call", "--tool-name", p.tool, "--tool-args-json", p.args)
		result.wantText(t, p.want)
	})
}

// mcporter is a client of the legacy era: of whatever transport the server is, it speaks
// Streamable HTTP with berth.
func TestMcporterOfLegacyServers(t *testing.T) {
	eachServer(t, func(t *testing.T, p publishedServer, url string) {
		script := "parts/node_modules/mcporter/dist/cli.js"
		command := nodeCommand(t, script, "call", "--http-url", url, "--allow-http", "--name", "berth",
			"--tool", p.tool, "--args", p.args, "--output", "json")
		command.Env = append(command.Environ(), "HOME="+t.TempDir()) // it keeps a registry there
		var answer bytes.Buffer
		command.Stdout = &answer
		start(t, "mcporter", command).awaitExit(t, inspectWithin)
		// Of a result that is JSON in one text it shows the JSON, and in any other case the result.
		if !json.Valid(answer.Bytes()) || !strings.Contains(answer.String(), p.want) {
			t.Errorf("got %s, want a result with %q", &answer, p.want)
		}
	})
}

// bridgedRules upgrade what the tasks clients call of the fixture.
const bridgedRules = `
[[upgrade]]
tools = ["slow_compute", "failing_job", "confirm_delete"]
after = "0s"
poll_interval = "100ms"
`

// A client of the Tasks extension, before servers without a line of task code that speak the
// legacy era.
func TestTasksClientOfLegacyServers(t *testing.T) {
	for _, front := range bridgeFronts {
		for _, r := range reaches {
			t.Run(front.name+"/"+r.name, func(t *testing.T) {
				t.Parallel()
				site := r.startLegacy(t, 3)
				got := drive(t, extensionTasks, front.start(t, site, bridgedRules), 24)
				t.Logf("%v", got)
				got.wantAllRight(t)
				if !await(t, readyWithin, func() bool { return len(site.runs.count(t, "begun")) > 0 }) {
					t.Error("no tool ran")
				}
			})
		}
	}
}
