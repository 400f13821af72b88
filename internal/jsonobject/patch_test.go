package jsonobject

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestPatchLeavesTheRestByteForByte(t *testing.T) {
	set := func(name string) Change { return Change{Name: name, Value: []byte("0")} }
	drop := func(name string) Change { return Change{Name: name} }
	for name, tc := range map[string]struct {
		p          Patch
		data, want string
	}{
		"nothing":                {nil, " {\n \"a\" : 1.0 , \"\\u0062\":[ ] } \n", " {\n \"a\" : 1.0 , \"\\u0062\":[ ] } \n"},
		"replace":                {Patch{set("a")}, `{ "a" : {"a":1} , "b":1}`, `{ "a" : 0 , "b":1}`},
		"replace, escaped":       {Patch{set("a")}, `{"\u0061":1}`, `{"\u0061":0}`},
		"add":                    {Patch{set("z")}, `{ "a":1 }`, `{ "a":1,"z":0 }`},
		"add to an empty one":    {Patch{set("z"), set("y")}, ` { } `, ` {"z":0,"y":0 } `},
		"add a name with quotes": {Patch{set(`"`)}, `{}`, `{"\"":0}`},
		"drop the first":         {Patch{drop("a")}, `{ "a":1 , "b":2,"c":3}`, `{ "b":2,"c":3}`},
		"drop in the middle":     {Patch{drop("b")}, `{ "a":1 , "b":2 ,"c":3}`, `{ "a":1 ,"c":3}`},
		"drop the last":          {Patch{drop("c")}, "{\n\t\"a\":1,\n\t\"c\":3\n}", "{\n\t\"a\":1\n}"},
		"drop the only one":      {Patch{drop("a")}, `{ "a":1 }`, `{ }`},
		"drop the first two":     {Patch{drop("a"), drop("b")}, `{"a":1, "b":2, "c":3}`, `{"c":3}`},
		"drop all":               {Patch{drop("a"), drop("b")}, `{"a":1, "b":2 }`, `{ }`},
		"drop all and add":       {Patch{drop("a"), drop("b"), set("c")}, `{"a":1, "b":2 }`, `{"c":0 }`},
		"drop the last and add":  {Patch{drop("b"), set("c")}, `{"a":1, "b":2 }`, `{"a":1,"c":0 }`},
		"drop what is not there": {Patch{drop("z")}, `{"a":1}`, `{"a":1}`},
		"a look-alike within":    {Patch{drop("a")}, `{"b":{"a":1},"c":"\"a\":1"}`, `{"b":{"a":1},"c":"\"a\":1"}`},
		"within":                 {Patch{{Name: "a", Within: Patch{drop("x"), set("y")}}}, `{"a": { "x":1} ,"b":1}`, `{"a": {"y":0} ,"b":1}`},
		"make what holds it":     {Patch{{Name: "a", Within: Patch{{Name: "b", Within: Patch{set("c"), drop("d")}}}}}, `{}`, `{"a":{"b":{"c":0}}}`},
		"make it of null":        {Patch{{Name: "a", Within: Patch{set("c")}}}, `{"a":null}`, `{"a":{"c":0}}`},
		"make nothing to drop":   {Patch{{Name: "a", Within: Patch{drop("c")}}}, `{}`, `{}`},
		"drop within null":       {Patch{{Name: "a", Within: Patch{drop("c")}}}, `{"a":null}`, `{"a":null}`},
		"drop within a list":     {Patch{{Name: "a", Within: Patch{drop("c")}}}, `{"a":[ "c"]}`, `{"a":[ "c"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := tc.p.Apply([]byte(tc.data))
			if err != nil || string(got) != tc.want || !json.Valid(got) {
				t.Errorf("got  %s (%v)\nwant %s", got, err, tc.want)
			}
		})
	}
}

func TestPatchRefusesWhatTwoReadersReadDifferently(t *testing.T) {
	p := Patch{{Name: "a", Within: Patch{{Name: "b", Value: []byte("0")}}}}
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
		"too many to look at": `{"a":{}` + many() + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := p.Apply([]byte(data)); err == nil {
				t.Errorf("got %.200s", got)
			}
		})
	}
}

// many are more members than an object may have.
func many() string {
	var b strings.Builder
	for i := range MaxMembers {
		fmt.Fprintf(&b, `,"m%d":0`, i)
	}
	return b.String()
}
