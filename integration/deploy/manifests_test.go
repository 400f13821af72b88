package deploy

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	monitoring "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	apps "k8s.io/api/apps/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	podsecurity "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// manifests are what one file of values renders to.
type manifests struct {
	objects map[string]runtime.Object // by kind and name
}

// decoder knows the kinds of Kubernetes and of the Prometheus operator, and refuses fields that they do not have.
func decoder(t *testing.T) runtime.Decoder {
	t.Helper()
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientscheme.AddToScheme, monitoring.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
}

func renderManifests(t *testing.T, file string) manifests {
	t.Helper()
	rendered, err := render(loadChart(t), readValues(t, file))
	if err != nil {
		t.Fatal(err)
	}
	m, decode := manifests{make(map[string]runtime.Object)}, decoder(t)
	for path, text := range rendered {
		if filepath.Ext(path) != ".yaml" {
			continue
		}
		for _, document := range strings.Split(text, "\n---\n") {
			if document = strings.TrimPrefix(strings.TrimSpace(document), "---\n"); document == "" {
				continue
			}
			object, kind, err := decode.Decode([]byte(document), nil, nil)
			if err != nil {
				t.Errorf("%s: %v\n%s", path, err, document)
				continue
			}
			m.objects[kind.Kind+" "+nameOf(object)] = object
		}
	}
	return m
}

func nameOf(object runtime.Object) string {
	if named, ok := object.(interface{ GetName() string }); ok {
		return named.GetName()
	}
	return ""
}

func (m manifests) kinds() []string { return slices.Sorted(maps.Keys(m.objects)) }

func find[T runtime.Object](t *testing.T, m manifests) T {
	t.Helper()
	for _, object := range m.objects {
		if found, ok := object.(T); ok {
			return found
		}
	}
	t.Fatalf("none of %v", m.kinds())
	panic("unreachable")
}

// Every manifest is one that the API server knows, field by field, and those are there that the values ask for.
func TestManifestsAreWhatKubernetesKnows(t *testing.T) {
	for file, want := range map[string][]string{
		"testdata/one.yaml":   {"ConfigMap mine-berth", "Deployment mine-berth", "Service mine-berth", "ServiceAccount mine-berth"},
		"testdata/redis.yaml": {"ConfigMap mine-berth", "Deployment mine-berth", "PodDisruptionBudget mine-berth", "Role mine-berth", "RoleBinding mine-berth", "Service mine-berth", "ServiceAccount mine-berth"},
		"testdata/full.yaml": {
			"ConfigMap gate", "Deployment gate", "HorizontalPodAutoscaler gate", "NetworkPolicy gate", "PodDisruptionBudget gate", "PrometheusRule gate",
			"Role gate", "RoleBinding gate", "Service gate", "Service gate-admin", "ServiceAccount gate", "ServiceMonitor gate",
		},
	} {
		if got := renderManifests(t, file).kinds(); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", file, got, want)
		}
	}
}

// The pods may run where Pod Security enforces its strictest profile.
func TestPodsAreRestricted(t *testing.T) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		t.Fatal(err)
	}
	level := podsecurity.LevelVersion{Level: podsecurity.LevelRestricted, Version: podsecurity.LatestVersion()}
	for _, file := range valuesFiles(t) {
		pod := find[*apps.Deployment](t, renderManifests(t, file)).Spec.Template
		for _, result := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
			if !result.Allowed {
				t.Errorf("%s: %s: %s", file, result.ForbiddenReason, result.ForbiddenDetail)
			}
		}
		if c := pod.Spec.Containers[0]; !*c.SecurityContext.ReadOnlyRootFilesystem {
			t.Errorf("%s: the root can be written to", file)
		}
	}
}

// A pod has as long to go as berth may take: drainDelay, the longer of drain and drainHeld, and ten seconds. Nothing but
// SIGTERM begins it.
func TestPodsHaveTheTimeThatBerthTakesToGo(t *testing.T) {
	for file, want := range map[string]int64{"testdata/redis.yaml": 10 + 600 + 10, "testdata/full.yaml": 5 + 5400 + 10} {
		pod := find[*apps.Deployment](t, renderManifests(t, file)).Spec.Template.Spec
		if got := *pod.TerminationGracePeriodSeconds; got != want {
			t.Errorf("%s: got %d s, want %d", file, got, want)
		}
		if pod.Containers[0].Lifecycle != nil {
			t.Errorf("%s: a hook stands between the kubelet's word and berth", file)
		}
	}
}

// Every port that a probe, a service or a policy names is one of the container's, and each probe asks the one without a token.
func TestPortsAreThere(t *testing.T) {
	for _, file := range valuesFiles(t) {
		m := renderManifests(t, file)
		c := find[*apps.Deployment](t, m).Spec.Template.Spec.Containers[0]
		var ports []string
		for _, port := range c.Ports {
			ports = append(ports, port.Name)
		}
		for path, probe := range map[string]*core.Probe{"/livez": c.LivenessProbe, "/readyz": c.ReadinessProbe} {
			if probe.HTTPGet.Path != path || probe.HTTPGet.Port.StrVal != "probes" {
				t.Errorf("%s: got the probe %v, want %s", file, probe.HTTPGet, path)
			}
		}
		for _, object := range m.objects {
			service, ok := object.(*core.Service)
			if !ok {
				continue
			}
			for _, port := range service.Spec.Ports {
				if !slices.Contains(ports, port.TargetPort.StrVal) {
					t.Errorf("%s: service %s leads to port %q, want one of %v", file, service.Name, port.TargetPort.StrVal, ports)
				}
			}
		}
	}
}

// Secrets are mounted as files: no variable of the environment has one, and the configuration names none.
func TestSecretsAreFiles(t *testing.T) {
	m := renderManifests(t, "testdata/full.yaml")
	pod := find[*apps.Deployment](t, m).Spec.Template.Spec
	for _, variable := range pod.Containers[0].Env {
		if variable.ValueFrom != nil {
			t.Errorf("variable %s has a value from %v", variable.Name, variable.ValueFrom)
		}
	}
	var paths []string
	for _, volume := range pod.Volumes {
		if volume.Projected == nil {
			continue
		}
		for _, source := range volume.Projected.Sources {
			paths = append(paths, "/etc/berth-secrets/"+source.Secret.Items[0].Path)
		}
	}
	config := find[*core.ConfigMap](t, m).Data["config.toml"]
	for _, path := range paths {
		if !strings.Contains(config, path) {
			t.Errorf("%s is mounted, and not in the configuration", path)
		}
	}
	if len(paths) != 3 {
		t.Errorf("got the files %v, want three", paths)
	}
}

// The alert of a berth that does not answer looks at the job by which the chart has berths asked, whatever they are called.
func TestTheAlertOfABerthThatIsAwayLooksAtItsJob(t *testing.T) {
	jobs := regexp.MustCompile(`^up\{job=~"(.+)"\} == 0$`)
	m := renderManifests(t, "testdata/full.yaml")
	job := find[*monitoring.ServiceMonitor](t, m).Name + "-admin" // the service's name, as the operator has it
	if m.objects["Service "+job] == nil {
		t.Fatalf("no service %s among %v", job, m.kinds())
	}
	for _, rule := range find[*monitoring.PrometheusRule](t, m).Spec.Groups[0].Rules {
		if rule.Alert != "BerthAway" {
			continue
		}
		asked := jobs.FindStringSubmatch(rule.Expr.String())
		if asked == nil || !regexp.MustCompile("^(?:"+asked[1]+")$").MatchString(job) {
			t.Errorf("%s does not ask for job %s", rule.Expr.String(), job)
		}
		return
	}
	t.Error("there is no such alert")
}
