// Command sbom writes the bill of materials of a Go program to its output, as CycloneDX 1.6 in JSON: the modules that the
// program itself says it was built from, and their checksums as in go.sum. Equal programs have equal bills: nothing in one tells
// of a time or a place.
//
//	sbom VERSION PROGRAM >PROGRAM.cdx.json
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"runtime/debug"
	"strings"
)

type bill struct {
	Format       string       `json:"bomFormat"`
	Spec         string       `json:"specVersion"`
	Version      int          `json:"version"`
	Metadata     metadata     `json:"metadata"`
	Components   []component  `json:"components"`
	Dependencies []dependency `json:"dependencies"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type       string     `json:"type"`
	Ref        string     `json:"bom-ref"`
	Name       string     `json:"name"`
	Version    string     `json:"version"`
	PURL       string     `json:"purl,omitempty"`
	Properties []property `json:"properties,omitempty"`
}

type property struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type dependency struct {
	Ref       string   `json:"ref"`
	DependsOn []string `json:"dependsOn,omitempty"`
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: sbom VERSION PROGRAM")
		os.Exit(2)
	}
	info, err := buildinfo.ReadFile(os.Args[2])
	if err == nil {
		encoder := json.NewEncoder(os.Stdout)
		encoder.SetIndent("", "  ")
		err = encoder.Encode(billOf(os.Args[1], info))
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "sbom: %v\n", err)
		os.Exit(1)
	}
}

func billOf(version string, info *buildinfo.BuildInfo) bill {
	program := component{Type: "application", Ref: info.Main.Path + "@" + version, Name: info.Main.Path, Version: version}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "GOOS", "GOARCH", "CGO_ENABLED":
			program.Properties = append(program.Properties, property{"go:" + setting.Key, setting.Value})
		}
	}
	components := []component{goModule("std", strings.TrimPrefix(info.GoVersion, "go"), "")}
	for _, module := range info.Deps {
		used := replaced(module)
		components = append(components, goModule(used.Path, used.Version, used.Sum))
	}
	all := dependency{Ref: program.Ref}
	for _, c := range components {
		all.DependsOn = append(all.DependsOn, c.Ref)
	}
	return bill{Format: "CycloneDX", Spec: "1.6", Version: 1, Metadata: metadata{program}, Components: components, Dependencies: []dependency{all}}
}

func replaced(module *debug.Module) *debug.Module {
	if module.Replace != nil {
		return module.Replace
	}
	return module
}

// goModule is a module of Go; std is its library, by the name that lists of weaknesses give it.
func goModule(path, version, sum string) component {
	url := "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")
	c := component{Type: "library", Ref: url, Name: path, Version: version, PURL: url}
	if sum != "" {
		c.Properties = []property{{"go:sum", sum}}
	}
	return c
}
