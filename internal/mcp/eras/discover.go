package eras

import (
	"berth/internal/jsonobject"
	"berth/internal/mcp"
	"berth/internal/mcp/offer"

	"github.com/go-json-experiment/json/jsontext"
)

// DiscoverFrom returns the result of server/discover that the result of an initialize stands for.
// Core tasks are told of as the extension, which is what modern clients know.
func DiscoverFrom(initialized []byte, version string) []byte {
	values, err := jsonobject.Loose(initialized, "capabilities", "serverInfo", "instructions")
	capabilities, info, instructions := values[0], values[1], values[2]
	if err != nil || capabilities.Kind() != '{' {
		capabilities = jsontext.Value("{}")
	}
	capabilities = withoutNulls(capabilities)
	modern := jsonobject.Patch{{Name: "tasks"}}
	if offer.HasCoreTasks(initialized) {
		modern = append(modern, jsonobject.Setting([]byte("{}"), "extensions", mcp.TasksExtension)...)
	}
	told, err := modern.Apply(capabilities)
	if err != nil {
		told = []byte("{}")
	}
	out := []byte(`{"resultType":"complete","supportedVersions":["` + version + `"],"capabilities":`)
	out = append(out, told...)
	if instructions.Kind() == '"' {
		out = append(append(out, `,"instructions":`...), instructions...)
	}
	out = append(out, `,"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":`...)
	out = append(out, infoFrom(info)...)
	return append(out, `}}`...)
}

// infoFrom is a server's name for itself as the schema demands it (2026-07-28, "Implementation").
func infoFrom(info jsontext.Value) []byte {
	if info.Kind() != '{' {
		return ownInfoJSON
	}
	info = withoutNulls(info)
	values, _ := jsonobject.Loose(info, "name", "version")
	var missing jsonobject.Patch
	for i, name := range []string{"name", "version"} {
		if values[i].Kind() != '"' {
			missing = append(missing, jsonobject.Change{Name: name, Value: []byte(`"unknown"`)})
		}
	}
	out, err := missing.Apply(info)
	if err != nil {
		return ownInfoJSON
	}
	return out
}

// withoutNulls is an object without members that are null, nor such members of theirs: servers write what they do not have like that, which
// the schema of the modern era forbids.
func withoutNulls(object jsontext.Value) jsontext.Value {
	out, err := nullsIn(object, 2).Apply(object)
	if err != nil {
		return object
	}
	return out
}

// nullsIn removes members that are null, as deep as that.
func nullsIn(object jsontext.Value, depth int) (nulls jsonobject.Patch) {
	_ = jsonobject.Each(object, nil, func(name []byte, value jsontext.Value) error {
		if value.Kind() == 'n' {
			nulls = append(nulls, jsonobject.Change{Name: string(name)})
		} else if value.Kind() == '{' && depth > 1 {
			if within := nullsIn(value, depth-1); within != nil {
				nulls = append(nulls, jsonobject.Change{Name: string(name), Within: within})
			}
		}
		return nil
	})
	return nulls
}
