package command

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/config"
	"berth/internal/realtest"
	"berth/internal/site"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// described is the file that describes the API, and its schemas.
type described struct {
	Paths map[string]map[string]any
	Tree  map[string]any
	t     *testing.T
	all   *jsonschema.Compiler
}

func readDescribed(t *testing.T) *described {
	t.Helper()
	d := &described{t: t, all: jsonschema.NewCompiler()}
	if err := yaml.Unmarshal(api.OpenAPI, &d.Tree); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(d.Tree)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Paths map[string]map[string]any }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	d.Paths = file.Paths
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	d.all.DefaultDraft(jsonschema.Draft2020) // which OpenAPI 3.1 goes by
	d.all.AssertFormat()
	if err := d.all.AddResource("openapi.json", tree); err != nil {
		t.Fatal(err)
	}
	return d
}

// resolve follows a reference within the file.
func (d *described) resolve(value any) map[string]any {
	table := value.(map[string]any)
	ref, is := table["$ref"].(string)
	if !is {
		return table
	}
	at := any(d.Tree)
	for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
		at = at.(map[string]any)[name]
	}
	if at == nil {
		d.t.Fatalf("%s leads nowhere", ref)
	}
	return at.(map[string]any)
}

// queries are the parameters of the query that an operation has.
func (d *described) queries(operation map[string]any) (names []string) {
	parameters, _ := operation["parameters"].([]any)
	for _, one := range parameters {
		if p := d.resolve(one); p["in"] == "query" {
			names = append(names, p["name"].(string))
		}
	}
	slices.Sort(names)
	return names
}

// judge says what is wrong with an answer to an operation.
func (d *described) judge(operation map[string]any, status int, body []byte) error {
	responses := operation["responses"].(map[string]any)
	response, is := responses[http.StatusText(status)]
	if status == http.StatusOK {
		response, is = responses["200"], true
	}
	if !is {
		response = responses["default"]
	}
	content := d.resolve(response)["content"].(map[string]any)
	kind, is := content["application/json"].(map[string]any)
	if !is {
		return nil
	}
	schema, err := d.all.Compile("openapi.json" + kind["schema"].(map[string]any)["$ref"].(string))
	if err != nil {
		d.t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

// Each route is described, with the parameters that it reads, and nothing else is.
func TestTheAPIFileHasTheRoutesAndTheirParameters(t *testing.T) {
	d := readDescribed(t)
	known := map[string]admin.Route{}
	for _, route := range apiRoutes(t) {
		known[route.Pattern] = route
		method, path, _ := strings.Cut(route.Pattern, " ")
		operation, is := d.Paths[path][strings.ToLower(method)].(map[string]any)
		if !is {
			t.Errorf("%s is not described", route.Pattern)
			continue
		}
		if got, want := d.queries(operation), slices.Sorted(slices.Values(route.Query)); !slices.Equal(got, want) {
			t.Errorf("%s: described with %v, reads %v", route.Pattern, got, want)
		}
	}
	for path, operations := range d.Paths {
		for method := range operations {
			pattern := strings.ToUpper(method) + " " + path
			if _, is := known[pattern]; !is && method != "parameters" {
				t.Errorf("%s is described, and is not there", pattern)
			}
		}
	}
}

// apiRoutes are those of a berth.
func apiRoutes(t *testing.T) []admin.Route {
	t.Helper()
	cfg, pool := config.Default(), config.DefaultPool()
	pool.Upstreams = []config.Upstream{{Name: "a", URL: "http://127.0.0.1:1/mcp"}}
	cfg.Pools, cfg.Store.URL = []config.Pool{pool}, "memory:"
	store, err := site.OpenStore(t.Context(), cfg, site.Observers{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := site.New(t.Context(), store, cfg, site.Observers{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	l := &reloader{site: s}
	return append(s.Routes(l.config), l.route())
}

const canary = "CANARY7f3a"

// What a berth that runs answers is what the file says, and bears no secret that it was given.
func TestTheAPIAnswersAsItsFileSays(t *testing.T) {
	d := readDescribed(t)
	base, data := observed(t)
	call := func(method, path, body string) (int, []byte) {
		t.Helper()
		request, _ := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+canary+"-token")
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), canary) {
			t.Errorf("%s %s tells a secret: %s", method, path, text)
		}
		return response.StatusCode, text
	}
	asked := 0
	for path, operations := range d.Paths {
		for method, operation := range operations {
			if method == "parameters" {
				continue
			}
			body := map[string]string{"PUT /v1/log-level": `{"level":"debug","for":1}`}[strings.ToUpper(method)+" "+path]
			for _, concrete := range concretes(path) {
				status, text := call(strings.ToUpper(method), concrete, body)
				if err := d.judge(operation.(map[string]any), status, text); err != nil {
					t.Errorf("%s %s: %d %s\n%v", method, concrete, status, text, err)
				}
				if _, text := call(strings.ToUpper(method), concrete+"?nobody=reads", body); !strings.Contains(string(text), `no parameter \"nobody\"`) {
					t.Errorf("%s %s takes a parameter that nobody reads: %s", method, concrete, text)
				}
				asked++
			}
		}
	}
	if asked < 20 {
		t.Errorf("only %d questions were asked", asked)
	}
	for _, path := range []string{"/v1/status", "/v1/config", "/v1/openapi.yaml", "/debug/pprof/", "/metrics", "/readyz"} {
		response, err := http.Get(data + path)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusNotFound {
			t.Errorf("clients who ask for %s are answered %d, want 404", path, response.StatusCode)
		}
	}
}

// concretes are paths with something that is there in the place of each parameter, and with something that is not.
func concretes(path string) []string {
	if !strings.Contains(path, "{") {
		return []string{path}
	}
	there := strings.NewReplacer("{pool}", "default", "{name}", "a", "{kind}", "refusals", "{id}", "x").Replace(path)
	return []string{there, regexp.MustCompile(`\{[a-z]+\}`).ReplaceAllString(path, "nobody")}
}

// observed is a berth with secrets wherever it may have some, which has served a client and refused another.
func observed(t *testing.T) (adminURL, dataURL string) {
	t.Helper()
	instance := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"jsonrpc":"2.0","id":1,"result":{}}`)
	}))
	t.Cleanup(instance.Close)
	cfg, pool := config.Default(), config.DefaultPool()
	pool.Upstreams = []config.Upstream{{Name: "a", URL: instance.URL + "/mcp"}, {Name: "b", URL: "http://127.0.0.1:1/mcp", Drain: true}}
	pool.Authorization, pool.AuthorizationValue = config.AuthorizationReplace, canary+"-bearer"
	cfg.Listen, cfg.Pools, cfg.Store.URL = "127.0.0.1:0", []config.Pool{pool}, "memory:"
	cfg.Admin.Listen, cfg.Admin.Token = "127.0.0.1:0", canary+"-token"
	ctx, stop := context.WithCancel(t.Context())
	var logs realtest.Journal
	over := make(chan error, 1)
	go func() { over <- serve(ctx, reading{}, cfg, nil, &logs) }()
	t.Cleanup(func() { stop(); <-over })
	where := regexp.MustCompile(`"msg":"(admin listening|serving)","address":"([^"]+)"`)
	realtest.Eventually(t, "it serves", func() bool { return len(where.FindAllString(logs.String(), -1)) == 2 })
	for _, found := range where.FindAllStringSubmatch(logs.String(), -1) {
		if found[1] == "serving" {
			dataURL = "http://" + found[2]
		} else {
			adminURL = "http://" + found[2]
		}
	}
	for _, body := range []string{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"key":"` + canary + `-argument"}}}`, canary, `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"nobody"}}`} {
		request, _ := http.NewRequestWithContext(t.Context(), "POST", dataURL+"/mcp?key="+url.QueryEscape(canary), strings.NewReader(body))
		request.Header.Set("Authorization", "Bearer "+canary+"-client")
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
	return adminURL, dataURL
}
