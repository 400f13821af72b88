package deploy

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
)

const (
	chartDir  = "../../deploy/helm/berth"
	namespace = "gates"
)

// kube is the oldest release that the chart is for.
var kube = chartutil.KubeVersion{Version: "v1.27.0", Major: "1", Minor: "27"}

func loadChart(t *testing.T) *chart.Chart {
	t.Helper()
	c, err := loader.LoadDir(chartDir)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func readValues(t *testing.T, path string) chartutil.Values {
	t.Helper()
	values, err := chartutil.ReadValuesFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// render is "helm template": values are held to the schema first.
func render(c *chart.Chart, values chartutil.Values) (map[string]string, error) {
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = kube
	all, err := chartutil.ToRenderValues(c, values, chartutil.ReleaseOptions{Name: "mine", Namespace: namespace, IsInstall: true}, capabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

// valuesFiles are what the chart is rendered with: what an operator may write.
func valuesFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no values: %v", err)
	}
	return files
}

// "helm lint" finds nothing beyond the icon that the chart does without.
func TestChartHasNothingToLint(t *testing.T) {
	for _, file := range valuesFiles(t) {
		for _, message := range lint.AllWithKubeVersion(chartDir, readValues(t, file), namespace, &kube).Messages {
			if message.Severity > support.InfoSev {
				t.Errorf("%s: %s", file, message)
			}
		}
	}
}

// Values that cannot work are refused, and the refusal says what to do.
func TestValuesThatCannotWorkAreRefused(t *testing.T) {
	c := loadChart(t)
	for name, test := range map[string]struct{ values, says string }{
		"two berths without a store":  {"replicas: 2", "set store.url or store.secret.name to a Redis"},
		"a password in the clear":     {`store: {url: "redis://berth:secret@redis:6379/0"}`, "store"},
		"an unknown key":              {"replica: 1", "replica"},
		"no such duration":            {"{replicas: 1, drain: 30}", "drain"},
		"less for held calls":         {"{replicas: 1, drain: 1m, drainHeld: 30s}", "drainHeld is at least drain"},
		"metrics without a token":     {"{replicas: 1, serviceMonitor: {enabled: true}}", "admin.token.name"},
		"two sources of one pool":     {`{replicas: 1, pools: [{name: p, service: a, dns: "b:1"}]}`, "exactly one of"},
		"no source of a pool":         {"{replicas: 1, pools: [{name: p}]}", "exactly one of"},
		"a store in two places":       {`store: {url: "redis://redis/0", secret: {name: s, key: url}}`, "not both"},
		"a digest that cannot be one": {`{replicas: 1, image: {repository: berth, digest: "sha256:1"}}`, "digest"},
	} {
		t.Run(name, func(t *testing.T) {
			values, err := chartutil.ReadValues([]byte(test.values))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := render(c, values); err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want a refusal that says %q", err, test.says)
			}
		})
	}
}

// The chart runs the berth that it comes with.
func TestChartIsOfThisVersion(t *testing.T) {
	source, err := os.ReadFile("../../internal/build/build.go")
	if err != nil {
		t.Fatal(err)
	}
	if c := loadChart(t); !strings.Contains(string(source), `Version = "`+c.AppVersion()+`"`) {
		t.Errorf("the chart runs %s, which is not the version in internal/build", c.AppVersion())
	}
}

// What the release tells its operator renders.
func TestNotesTellTheFirstSteps(t *testing.T) {
	c := loadChart(t)
	for _, file := range valuesFiles(t) {
		rendered, err := render(c, readValues(t, file))
		if err != nil {
			t.Fatal(err)
		}
		if notes := rendered["berth/templates/NOTES.txt"]; !strings.Contains(notes, "/berth ready") {
			t.Errorf("%s: got %q", file, notes)
		}
	}
}
