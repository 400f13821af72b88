package command

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// module is the root of the module, as this package sees it.
const module = "../.."

// imports returns what the package in dir imports directly, tests aside.
func imports(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatalf("Glob: %v", err)
	}
	var paths []string
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			paths = append(paths, importsOf(t, file)...)
		}
	}
	return paths
}

// importsOf returns what a file imports.
func importsOf(t *testing.T, file string) (paths []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatalf("ParseFile: %v", err)
	}
	for _, spec := range parsed.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		paths = append(paths, path)
	}
	return paths
}

// packages returns the folders of the module that hold Go files, from its root.
func packages(t *testing.T) []string {
	t.Helper()
	var dirs []string
	err := filepath.WalkDir(module, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (entry.Name() == "testdata" || entry.Name() == "node_modules" || strings.HasPrefix(entry.Name(), ".") && path != module):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"):
			dir, err := filepath.Rel(module, filepath.Dir(path))
			dirs = append(dirs, filepath.ToSlash(dir))
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatalf("WalkDir: %v", err)
	}
	slices.Sort(dirs) // files and folders of one package alternate
	return slices.Compact(dirs)
}

// carriers are the files that carry requests and answers by net/http: clients' and upstreams'.
var carriers = []string{"internal/exchange/nethttp.go", "internal/wire/nethttp/nethttp.go"}

// What decides does not depend on how it is carried: a faster face for HTTP/1.1 is
// to stand beside net/http. Only what is imported directly counts, since the
// client of Redis and telemetry bring net/http along.
func TestOnlyTheCarriersImportHTTP(t *testing.T) {
	decide := []string{
		"internal/exchange", "internal/httpsse", "internal/legacyface", "internal/mcp", "internal/relay", "internal/sse", "internal/stdio", "internal/storage", "internal/wire",
		"internal/drain", "proxy", "routing", "sticky", "upgrade", "upgrade/task", "upgrade/ledger", "upgrade/runner", "upgrade/peers", "upgrade/webhooks",
	}
	var found []string
	for _, dir := range packages(t) {
		if !slices.ContainsFunc(decide, func(root string) bool { return dir == root || strings.HasPrefix(dir, root+"/") }) || forTests(dir) {
			continue
		}
		files, err := filepath.Glob(filepath.Join(module, dir, "*.go"))
		if err != nil {
			t.Fatalf("Glob: %v", err)
		}
		for _, file := range files {
			if !strings.HasSuffix(file, "_test.go") && slices.ContainsFunc(importsOf(t, file), isHTTP) {
				found = append(found, dir+"/"+filepath.Base(file))
			}
		}
	}
	slices.Sort(carriers)
	if slices.Sort(found); !slices.Equal(found, carriers) {
		t.Errorf("got net/http in %v, want it in %v", found, carriers)
	}
}

func isHTTP(path string) bool { return path == "net/http" || strings.HasPrefix(path, "net/http/") }

// Packages are given what they need as values and fields; only those who build the
// graph know where it comes from.
func TestOnlyTheCommandKnowsConfigTelemetryAndAdmin(t *testing.T) {
	builders := []string{".", "internal/command", "internal/site", "internal/config", "internal/telemetry", "internal/admin", "internal/adminapi", "internal/verbs"}
	dirs := packages(t)
	for _, dir := range builders {
		if !slices.Contains(dirs, dir) {
			t.Errorf("no package in %s: found %v", dir, dirs)
		}
	}
	for _, dir := range dirs {
		if slices.Contains(builders, dir) {
			continue
		}
		for _, path := range imports(t, filepath.Join(module, dir)) {
			switch path {
			case "berth/internal/config", "berth/internal/telemetry", "berth/internal/admin":
				t.Errorf("%s imports %s", dir, path)
			}
		}
	}
}

// layers are the packages of the module, those first that know of no other. One may
// import from the layers before its own.
var layers = [][]string{
	{"deploy/sbom", "internal/alarm", "internal/build", "internal/cohort", "internal/crew", "internal/crowd", "internal/filetext", "internal/fresh", "internal/gate", "internal/h1/grammar", "internal/h1/lookout", "internal/h1/raw", "internal/jsonscan", "internal/lapse", "internal/ordered", "internal/parts", "internal/recent", "internal/series", "internal/sockets", "internal/sse", "internal/stdio/process", "internal/storage/localbus", "internal/systemd", "internal/timed", "internal/wire", "routing/health", "routing/turns", "sticky/binding"},
	{"internal/connlimit", "internal/framing", "internal/h1/body", "internal/h1/buffer", "internal/heap", "internal/journal", "internal/jsonobject", "internal/limit", "internal/mcptest", "internal/page", "internal/preamble", "internal/reload", "internal/storage/boltcheck", "internal/storage/engine", "internal/telemetry", "internal/trouble", "internal/wire/nethttp", "sticky/near"},
	{"internal/admin", "internal/h1/pace", "internal/mcp/listen", "internal/recall", "internal/storage/health", "internal/storage/memory"},
	{"internal/mcp"},
	{"internal/mcp/inquiry"},
	{"internal/mcp/idtag", "internal/mcp/mirrored", "internal/mcp/offer", "internal/mcp/taskwire"},
	{"internal/mcp/eras", "routing/profile"},
	{"internal/storage/breaker", "internal/storage/file", "internal/storage/redis"},
	{"internal/auditlog", "internal/certs", "internal/exchange", "internal/h1/head", "internal/identity", "internal/storage", "internal/webhook"},
	{"internal/client", "internal/discover", "internal/h1/client", "internal/h1/server", "internal/legacyface", "internal/renewal", "internal/seal", "internal/stdio", "sticky/roll", "sticky/share"},
	{"sticky"},
	{"internal/demo", "internal/doors", "internal/h1", "internal/httpsse", "internal/probe", "internal/relay", "routing/trail"},
	{"routing/claim"},
	{"routing"},
	{"internal/drain", "upgrade/task"},
	{"internal/api"},
	{"internal/bulletin", "upgrade/queues", "upgrade/quota"},
	{"upgrade/ledger", "upgrade/lending", "upgrade/transport"},
	{"upgrade/metrics", "upgrade/places"},
	{"upgrade/runner", "upgrade/webhooks"},
	{"upgrade/peers"},
	{"upgrade"},
	{"internal/config", "proxy/fault"},
	{"proxy/inbound"},
	{"proxy/resident"},
	{"proxy/admission", "proxy/audit", "proxy/draft", "proxy/lingering", "proxy/outbound", "proxy/reply", "proxy/standing", "proxy/taskwatch"},
	{"proxy/access", "proxy/announce", "proxy/polls", "proxy/session", "proxy/tasklist"},
	{"proxy/bridge/legacy"},
	{"proxy/bridge/flow", "proxy/bridge/rounds"},
	{"proxy/bridge/sessions"},
	{"proxy/bridge/coretasks", "proxy/bridge/held", "proxy/bridge/tools"},
	{"proxy/bridge/subscriptions"},
	{"proxy/bridge"},
	{"proxy/failover", "proxy/sessiontasks", "proxy/subscribe", "proxy/tasks"},
	{"proxy/course", "proxy/record"},
	{"proxy/explain"},
	{"proxy"},
	{"internal/adminapi", "internal/verbs"},
	{"internal/site"},
	{"internal/command"},
	{"."},
}

// forTests reports whether dir is a package that tests share, and nothing else: the demonstration runs mcptest's servers.
func forTests(dir string) bool {
	return strings.HasSuffix(dir, "test") && dir != "internal/mcptest" || dir == "internal/memnet" || strings.HasPrefix(dir, "integration")
}

// Dependencies run one way (docs/dev/design.md), and what tests share is in no binary.
func TestPackagesImportFromTheLayersBelow(t *testing.T) {
	layerOf := make(map[string]int)
	for i, layer := range layers {
		for _, dir := range layer {
			layerOf[dir] = i
		}
	}
	seen := 0
	for _, dir := range packages(t) {
		if forTests(dir) {
			continue
		}
		own, ok := layerOf[dir]
		if !ok {
			t.Errorf("%s is in no layer", dir)
			continue
		}
		seen++
		for _, path := range imports(t, filepath.Join(module, dir)) {
			below, berths := strings.CutPrefix(path, "berth/")
			if !berths {
				continue
			}
			if layer, ok := layerOf[below]; !ok || layer >= own {
				t.Errorf("%s imports %s, which is not below it", dir, below)
			}
		}
	}
	if seen != len(layerOf) {
		t.Errorf("got %d packages, want the %d of the layers", seen, len(layerOf))
	}
}
