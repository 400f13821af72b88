package mcp

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"
)

// decode reads data as encoding/json does: an independent reader.
func decode(t *testing.T, data []byte) any {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil || !json.Valid(data) {
		t.Fatalf("encoding/json does not read %.500q: %v", data, err)
	}
	return v
}

// sameJSON fails the test if encoding/json reads got as something else than want.
func sameJSON(t *testing.T, got []byte, want any) {
	t.Helper()
	if v := decode(t, got); !reflect.DeepEqual(v, want) {
		t.Errorf("got  %.1000s\nwant %.1000v", got, want)
	}
}

func TestPatchLeavesTheRestByteForByte(t *testing.T) {
	set := func(name string) change { return change{name: name, value: []byte("0")} }
	drop := func(name string) change { return change{name: name} }
	for name, tc := range map[string]struct {
		p          patch
		data, want string
	}{
		"nothing":                {nil, " {\n \"a\" : 1.0 , \"\\u0062\":[ ] } \n", " {\n \"a\" : 1.0 , \"\\u0062\":[ ] } \n"},
		"replace":                {patch{set("a")}, `{ "a" : {"a":1} , "b":1}`, `{ "a" : 0 , "b":1}`},
		"replace, escaped":       {patch{set("a")}, `{"\u0061":1}`, `{"\u0061":0}`},
		"add":                    {patch{set("z")}, `{ "a":1 }`, `{ "a":1,"z":0 }`},
		"add to an empty one":    {patch{set("z"), set("y")}, ` { } `, ` {"z":0,"y":0 } `},
		"add a name with quotes": {patch{set(`"`)}, `{}`, `{"\"":0}`},
		"drop the first":         {patch{drop("a")}, `{ "a":1 , "b":2,"c":3}`, `{ "b":2,"c":3}`},
		"drop in the middle":     {patch{drop("b")}, `{ "a":1 , "b":2 ,"c":3}`, `{ "a":1 ,"c":3}`},
		"drop the last":          {patch{drop("c")}, "{\n\t\"a\":1,\n\t\"c\":3\n}", "{\n\t\"a\":1\n}"},
		"drop the only one":      {patch{drop("a")}, `{ "a":1 }`, `{ }`},
		"drop the first two":     {patch{drop("a"), drop("b")}, `{"a":1, "b":2, "c":3}`, `{"c":3}`},
		"drop all":               {patch{drop("a"), drop("b")}, `{"a":1, "b":2 }`, `{ }`},
		"drop all and add":       {patch{drop("a"), drop("b"), set("c")}, `{"a":1, "b":2 }`, `{"c":0 }`},
		"drop the last and add":  {patch{drop("b"), set("c")}, `{"a":1, "b":2 }`, `{"a":1,"c":0 }`},
		"drop what is not there": {patch{drop("z")}, `{"a":1}`, `{"a":1}`},
		"a look-alike within":    {patch{drop("a")}, `{"b":{"a":1},"c":"\"a\":1"}`, `{"b":{"a":1},"c":"\"a\":1"}`},
		"within":                 {patch{{name: "a", within: patch{drop("x"), set("y")}}}, `{"a": { "x":1} ,"b":1}`, `{"a": {"y":0} ,"b":1}`},
		"make what holds it":     {patch{{name: "a", within: patch{{name: "b", within: patch{set("c"), drop("d")}}}}}, `{}`, `{"a":{"b":{"c":0}}}`},
		"make it of null":        {patch{{name: "a", within: patch{set("c")}}}, `{"a":null}`, `{"a":{"c":0}}`},
		"make nothing to drop":   {patch{{name: "a", within: patch{drop("c")}}}, `{}`, `{}`},
		"drop within null":       {patch{{name: "a", within: patch{drop("c")}}}, `{"a":null}`, `{"a":null}`},
		"drop within a list":     {patch{{name: "a", within: patch{drop("c")}}}, `{"a":[ "c"]}`, `{"a":[ "c"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.p.apply([]byte(tc.data))
			if err != nil || string(got) != tc.want || !json.Valid(got) {
				t.Errorf("got  %s (%v)\nwant %s", got, err, tc.want)
			}
		})
	}
}

func TestPatchRefusesWhatTwoReadersReadDifferently(t *testing.T) {
	p := patch{{name: "a", within: patch{{name: "b", value: []byte("0")}}}}
	for name, data := range map[string]string{
		"twice":               `{"a":{},"a":{}}`,
		"twice, escaped":      `{"a":{},"\u0061":{}}`,
		"twice within":        `{"a":{"b":1,"b":2}}`,
		"another one twice":   `{"a":{},"c":1,"c":2}`,
		"in another case":     `{"A":{}}`,
		"both":                `{"a":{"b":1,"B":2}}`,
		"a list":              `[]`,
		"a list within":       `{"a":[]}`,
		"a text within":       `{"a":"{}"}`,
		"nothing":             ``,
		"no end":              `{"a":{}`,
		"something after it":  `{"a":{}} {}`,
		"no JSON":             `{"a":{},}`,
		"too many to look at": `{"a":{}` + filler(maxMembers) + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := p.apply([]byte(data)); err == nil {
				t.Errorf("got %.200s", got)
			}
		})
	}
}

func TestWithCancelledID(t *testing.T) {
	const message, want = `{ "params":{"reason":"requestId","requestId":"a"} ,"method":"x"}`, `{ "params":{"reason":"requestId","requestId":17} ,"method":"x"}`
	if got := WithCancelledID([]byte(message), []byte("17")); string(got) != want {
		t.Errorf("got %s", got)
	}
}
