package deploy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
)

const composeDir = "../../deploy/compose"

func loadCompose(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{filepath.Join(composeDir, "compose.yaml")}, cli.WithWorkingDirectory(composeDir), cli.WithEnv([]string{"BERTH_IMAGE=berth"}))
	if err != nil {
		t.Fatal(err)
	}
	project, err := options.LoadProject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return project
}

// Compose takes the file, every service says how it is, none may write where it need not, and nobody off this machine can call.
func TestComposeFileIsSound(t *testing.T) {
	project := loadCompose(t)
	if got, want := project.ServiceNames(), []string{"berth-1", "berth-2", "fleet-a", "fleet-b", "fleet-c", "redis"}; !slices.Equal(got, want) {
		t.Errorf("got the services %v, want %v", got, want)
	}
	for name, service := range project.Services {
		if service.HealthCheck == nil || !service.ReadOnly {
			t.Errorf("%s: health check %v, read-only %t", name, service.HealthCheck, service.ReadOnly)
		}
		for _, port := range service.Ports {
			if port.HostIP != "127.0.0.1" {
				t.Errorf("%s: port %s is open to all", name, port.Published)
			}
		}
		for variable, value := range service.Environment {
			if value != nil && strings.Contains(strings.ToLower(variable), "password") {
				t.Errorf("%s: a secret in the environment: %s", name, variable)
			}
		}
	}
}

// The two berths take their configuration, and each instance that it names is a service.
func TestBerthTakesTheConfigurationOfCompose(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(composeDir, "config.toml"))
	if err != nil {
		t.Fatal(err)
	}
	checkConfig(t, string(text))
	for _, name := range []string{"fleet-a", "fleet-b", "fleet-c"} {
		if !strings.Contains(string(text), "http://"+name+":7101/mcp") {
			t.Errorf("no instance is %s", name)
		}
	}
	for _, service := range []string{"berth-1", "berth-2"} {
		for _, secret := range loadCompose(t).Services[service].Secrets {
			if secret.Source != "admin-token" && !strings.Contains(string(text), "/run/secrets/"+secret.Source) {
				t.Errorf("%s is given %s, which the configuration does not name", service, secret.Source)
			}
		}
	}
}
