package deploy

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/moby/buildkit/client/llb"
	"github.com/moby/buildkit/client/llb/sourceresolver"
	"github.com/moby/buildkit/frontend/dockerfile/dockerfile2llb"
	"github.com/moby/buildkit/frontend/dockerfile/instructions"
	"github.com/moby/buildkit/frontend/dockerfile/parser"
	dockerspec "github.com/moby/docker-image-spec/specs-go/v1"
	"github.com/opencontainers/go-digest"
	ocispecs "github.com/opencontainers/image-spec/specs-go/v1"
)

const dockerfile = "../../deploy/docker/Dockerfile"

// bases knows as much of the images that a Dockerfile begins from as its check needs: their platform.
type bases struct{}

func (bases) ResolveImageConfig(_ context.Context, ref string, opt sourceresolver.Opt) (string, digest.Digest, []byte, error) {
	config, err := json.Marshal(dockerspec.DockerOCIImage{Image: ocispecs.Image{Platform: *opt.ImageOpt.Platform}})
	return ref, digest.FromBytes(config), config, err
}

func convertOptions(text []byte) dockerfile2llb.ConvertOpt {
	source := llb.NewSourceMap(nil, "Dockerfile", "Dockerfile", text)
	source.Definition = new(llb.Definition) // of where the file was fetched from: nowhere
	return dockerfile2llb.ConvertOpt{
		SourceMap:      source,
		MetaResolver:   bases{},
		TargetPlatform: &ocispecs.Platform{OS: "linux", Architecture: "arm64"},
	}
}

func readDockerfile(t *testing.T) []byte {
	t.Helper()
	text, err := os.ReadFile(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// BuildKit finds nothing to warn of ("docker build --check").
func TestDockerfileHasNothingToWarnOf(t *testing.T) {
	text := readDockerfile(t)
	found, err := dockerfile2llb.DockerfileLint(t.Context(), text, convertOptions(text))
	if err != nil {
		t.Fatal(err)
	}
	if found.Error != nil {
		t.Errorf("%s", found.Error.Message)
	}
	for _, warning := range found.Warnings {
		t.Errorf("%s: %s (line %d)", warning.RuleName, warning.Detail, warning.Location.Ranges[0].Start.Line)
	}
}

// The image has nobody's rights, says how it is, and begins by serving.
func TestImageIsWhatItIsMeantToBe(t *testing.T) {
	text := readDockerfile(t)
	made, err := dockerfile2llb.Dockerfile2LLB(t.Context(), text, convertOptions(text))
	if err != nil {
		t.Fatal(err)
	}
	config := made.Image.Config
	if config.User != "65532:65532" {
		t.Errorf("user %q", config.User)
	}
	if config.Healthcheck == nil || !slices.Equal(config.Healthcheck.Test, []string{"CMD", "/berth", "ready"}) {
		t.Errorf("health check %v", config.Healthcheck)
	}
	if !slices.Equal(config.Entrypoint, []string{"/berth"}) || !slices.Equal(config.Cmd, []string{"serve", "--config", "/etc/berth/config.toml"}) {
		t.Errorf("starts %v %v", config.Entrypoint, config.Cmd)
	}
	for _, label := range []string{"title", "description", "licenses", "version", "created"} {
		if config.Labels["org.opencontainers.image."+label] == "" {
			t.Errorf("no label for the %s", label)
		}
	}
	if made.Image.Architecture != "arm64" {
		t.Errorf("made for %s where arm64 was asked for", made.Image.Architecture)
	}
}

// parsed are the stages of the Dockerfile.
func parsed(t *testing.T) []instructions.Stage {
	t.Helper()
	file, err := os.Open(dockerfile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	tree, err := parser.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	stages, _, err := instructions.Parse(tree.AST, nil)
	if err != nil {
		t.Fatal(err)
	}
	return stages
}
