//go:build e2e

package integration

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// wholeServer is a published server of which a client uses all that it has.
type wholeServer struct {
	name  string
	tools string // of the client scripts
	steps int
	site  func(t testing.TB, directory string) *legacySite
}

func ofNoDirectory(site func(t testing.TB) *legacySite) func(t testing.TB, _ string) *legacySite {
	return func(t testing.TB, _ string) *legacySite { return site(t) }
}

var wholeEverything = []wholeServer{
	{"server-everything-streamable-http", "everything", 10, ofNoDirectory(everythingSite)},
	{"server-everything-http-sse", "everything", 10, ofNoDirectory(everythingSSESite)},
	{"server-everything-stdio", "everything", 10, ofNoDirectory(everythingStdioSite)},
}

var wholeServers = append(wholeEverything[:len(wholeEverything):len(wholeEverything)],
	wholeServer{"server-memory-stdio", "memory", 6, ofNoDirectory(memorySite)},
	wholeServer{"server-filesystem-stdio", "filesystem", 7, filesystemSiteOf},
)

// wholeClient is the published TypeScript client in the modern era, which does one thing after
// the other.
func wholeClient(tools, directory string) driver {
	return func(t testing.TB) *exec.Cmd {
		return nodeCommand(t, filepath.Join(clientsDir, "whole-server.js"), "--tools", tools, "--directory", directory)
	}
}

// All that real servers of the legacy era have, in each way to reach one, is there for a real
// client of the modern era, which knows nothing of a bridge.
func TestModernClientUsesWholeLegacyServers(t *testing.T) {
	for _, front := range bridgeFronts {
		for _, s := range wholeServers {
			t.Run(front.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				directory := greetingDirectory(t)
				got := drive(t, wholeClient(s.tools, directory), front.start(t, s.site(t, directory), ""), s.steps)
				t.Logf("%v", got)
				got.wantAllRight(t)
			})
		}
	}
}

// greetingDirectory has a file greeting.txt. No link leads there: server-filesystem resolves them.
func greetingDirectory(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "greeting.txt"), []byte("hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// ofOneInstance is a site of the first instance alone: what a client does in a session of its
// other calls' it finds again there.
func ofOneInstance(s *legacySite) *legacySite {
	if s.fleet == nil {
		s.pool = strings.Replace(s.pool, "replicas = 3", "replicas = 1", 1)
		return s
	}
	const upstream = "[[pools.upstreams]]\n"
	parts := strings.SplitN(s.pool, upstream, 3)
	s.pool = parts[0] + upstream + parts[1]
	return s
}

// What a server tells of a resource reaches who listens by subscriptions/listen.
func TestModernClientListensToLegacyServers(t *testing.T) {
	for _, front := range bridgeFronts {
		for _, s := range wholeEverything {
			t.Run(front.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				site := ofOneInstance(s.site(t, ""))
				drive(t, wholeClient("subscriptions", "/"), front.start(t, site, ""), 1).wantAllRight(t)
			})
		}
	}
}

// wholeRules upgrade a slow tool of server-everything, and one that asks.
const wholeRules = `
[[upgrade]]
tools = ["trigger-long-running-operation", "trigger-elicitation-request"]
after = "0s"
poll_interval = "100ms"
`

// The published client of the Tasks extension polls calls of published servers that have no tasks,
// to their end, and learns from each how far its call is.
func TestTasksClientOfServerEverything(t *testing.T) {
	for _, front := range bridgeFronts {
		for _, s := range wholeEverything {
			t.Run(front.name+"/"+s.name, func(t *testing.T) {
				t.Parallel()
				client := func(t testing.TB) *exec.Cmd {
					command := extensionTasks(t)
					command.Args = append(command.Args, "--tools", "everything")
					return command
				}
				got := drive(t, client, front.start(t, s.site(t, ""), wholeRules), 4)
				t.Logf("%v", got)
				got.wantAllRight(t)
			})
		}
	}
}

// The published Inspector, in its modern era, reads what server-everything has beside tools.
func TestInspectorReadsServerEverything(t *testing.T) {
	for _, s := range wholeEverything {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			url := bridgeFronts[1].start(t, s.site(t, ""), "")

			var read struct{ Contents []struct{ Text string } }
			inspect(t, &read, url, "modern", "--method", "resources/read", "--uri", "demo://resource/dynamic/text/3")
			if len(read.Contents) != 1 || !strings.Contains(read.Contents[0].Text, "Resource 3") {
				t.Errorf("resources/read: got %v, want the text of resource 3", read)
			}
			var prompt struct {
				Messages []struct{ Content struct{ Text string } }
			}
			inspect(t, &prompt, url, "modern", "--method", "prompts/get", "--prompt-name", "args-prompt", "--prompt-args", "city=Riga")
			if len(prompt.Messages) != 1 || !strings.Contains(prompt.Messages[0].Content.Text, "Riga") {
				t.Errorf("prompts/get: got %v, want a prompt about Riga", prompt)
			}
		})
	}
}

// server-filesystem that was given no directory asks for the client's roots as soon as it may, and
// serves those.
func TestLegacyServerAsksForRootsAtItsStart(t *testing.T) {
	for _, front := range bridgeFronts {
		t.Run(front.name, func(t *testing.T) {
			t.Parallel()
			directory := greetingDirectory(t)
			site := &legacySite{pool: "[[pools]]\n" + stdioProcesses(t, 1, node(t), published(t, "server-filesystem"))}
			got := drive(t, wholeClient("roots", directory), front.start(t, site, ""), 2)
			t.Logf("%v", got)
			got.wantAllRight(t)
		})
	}
}
