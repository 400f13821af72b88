package taskwire

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"berth/internal/jsonobject/jsontest"
)

// supportOf makes every tool that is not "plain" one that may be called as a task, unless
// it says more than the default, and notes what each says. "same" stays what it is.
func supportOf(seen *[]string) func(tool, says string) string {
	return func(tool, says string) string {
		*seen = append(*seen, tool+"="+says)
		if tool == "same" {
			return says
		}
		if tool == "plain" || says != "" && says != Forbidden {
			return ""
		}
		return Optional
	}
}

func TestAddTaskSupport(t *testing.T) {
	const optional = `"taskSupport":"optional"`
	for name, tc := range map[string]struct{ list, want, seen string }{
		"says nothing":      {`[{"name":"a", "inputSchema":{ }} ]`, `[{"name":"a", "inputSchema":{ },"execution":{` + optional + `}} ]`, "a="},
		"says the default":  {`[{"name":"a","execution":{ "taskSupport" : "forbidden" }}]`, `[{"name":"a","execution":{ "taskSupport" : "optional" }}]`, "a=forbidden"},
		"an execution":      {`[{"execution":{ "x":1.0 },"name":"a"}]`, `[{"execution":{ "x":1.0,` + optional + ` },"name":"a"}]`, "a="},
		"an empty one":      {`[{"name":"a","execution":{}}]`, `[{"name":"a","execution":{` + optional + `}}]`, "a="},
		"says optional":     {`[{"name":"a","execution":{` + optional + `}}]`, "", "a=optional"},
		"says required":     {`[{"name":"a","execution":{"taskSupport":"required"}}]`, "", "a=required"},
		"says more":         {`[{"name":"a","execution":{"taskSupport":"later"}}]`, "", "a=later"},
		"stays the same":    {`[{"name":"same","execution":{"taskSupport":"required"}}]`, "", "same=required"},
		"another tool":      {`[{"name":"plain"}]`, "", "plain="},
		"several":           {` [ {"name":"a"} , {"name":"plain"},{"name":"b","execution":{"taskSupport":"required"}}, {"name":"c"} ]`, ` [ {"name":"a","execution":{` + optional + `}} , {"name":"plain"},{"name":"b","execution":{"taskSupport":"required"}}, {"name":"c","execution":{` + optional + `}} ]`, "a= plain= b=required c="},
		"an escaped name":   {`[{"name":"\u0070lain"},{"n\u0061me":"a"}]`, `[{"name":"\u0070lain"},{"n\u0061me":"a","execution":{` + optional + `}}]`, "plain= a="},
		"in an annotation":  {`[{"name":"a","annotations":{"execution":{"taskSupport":"required"}}}]`, `[{"name":"a","annotations":{"execution":{"taskSupport":"required"}},"execution":{` + optional + `}}]`, "a="},
		"null":              {`[{"name":"a","execution":null}]`, "", ""},
		"null within":       {`[{"name":"a","execution":{"taskSupport":null}}]`, "", ""},
		"nothing within":    {`[{"name":"a","execution":{"taskSupport":""}}]`, "", ""},
		"a number within":   {`[{"name":"a","execution":{"taskSupport":1}}]`, "", ""},
		"a list":            {`[{"name":"a","execution":["taskSupport"]}]`, "", ""},
		"twice":             {`[{"name":"a","execution":{},"execution":{}},{"name":"b"}]`, `[{"name":"a","execution":{},"execution":{}},{"name":"b","execution":{` + optional + `}}]`, "b="},
		"twice within":      {`[{"name":"a","execution":{` + optional + `,` + optional + `}}]`, "", ""},
		"in another case":   {`[{"name":"a","Execution":{}}]`, "", ""},
		"two names":         {`[{"name":"a","name":"b"}]`, "", ""},
		"no name":           {`[{"title":"a"},7,null,"x",["name"]]`, "", ""},
		"a number for name": {`[{"name":7}]`, "", ""},
		"no tools":          {`[]`, "", ""},
		"an object":         {`{"name":"a"}`, "", ""},
		"cut off":           {`[{"name":"a"}`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			around := func(list string) string {
				return ` {"jsonrpc":"2.0", "id" : 1,"result":{"tools" : ` + list + ` , "nextCursor":"x"}} `
			}
			want := around(tc.want)
			if tc.want == "" { // left alone
				want = around(tc.list)
			}
			var seen []string
			got, changed := AddSupport([]byte(around(tc.list)), supportOf(&seen))
			if string(got) != want || changed != (tc.want != "") || strings.Join(seen, " ") != tc.seen {
				t.Errorf("got  %s, %v, %v\nwant %s, %v", got, changed, seen, want, tc.seen)
			}
		})
	}
}

// What is no list of tools has none.
func TestAddTaskSupportLeavesOthersAlone(t *testing.T) {
	const tools = `"tools":[{"name":"a"}]`
	for _, message := range []string{
		``, `<html>`, `[{"id":1,"result":{` + tools + `}}]`, `{"id":1,"result":[` + `{` + tools + `}` + `]}`,
		`{"id":1,"error":{"code":1},"result":{` + tools + `}}`, `{"id":1,"error":{` + tools + `}}`, `{"id":1,"method":"x","params":{` + tools + `}}`,
		`{"id":1,"result":{},"result":{` + tools + `}}`, `{"id":1,"result":{` + tools + `,` + tools + `}}`, `{"id":1,"result":{"Tools":[],` + tools + `}}`,
		`{"id":1,"result":{` + tools + `}`, `{"id":1,"result":{` + tools + `}}x`,
	} {
		var seen []string
		if got, changed := AddSupport([]byte(message), supportOf(&seen)); changed || string(got) != message || seen != nil {
			t.Errorf("%s: got %s, %v, %v", message, got, changed, seen)
		}
	}
}

// A list may be long.
func TestAddTaskSupportInALongList(t *testing.T) {
	list := func(execution string) []byte {
		var b strings.Builder
		b.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"tools":[`)
		for i := range 5000 {
			fmt.Fprintf(&b, `%s{"name":"t%d","description":%q%s}`, strings.Repeat(",", min(i, 1)), i, strings.Repeat("x", 500), execution)
		}
		return []byte(b.String() + `]}}`)
	}
	var seen []string
	got, changed := AddSupport(list(""), supportOf(&seen))
	if want := list(`,"execution":{"taskSupport":"optional"}`); string(got) != string(want) || !changed || len(seen) != 5000 {
		t.Errorf("%d bytes, want %d; %d tools", len(got), len(want), len(seen))
	}
}

// FuzzAddTaskSupport: an independent reader finds in each tool what was added, and all the
// rest as it was; without what was added every byte is the upstream's.
func FuzzAddTaskSupport(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"},{"name":"b","execution":{"taskSupport":"required"}}, {"name":"c","execution":{ }}]}}`))
	f.Add([]byte(`{"id":1,"result":{"tools":[ {"execution":{"x":[1]},"name":"\ud800"} ]}}`))
	f.Add([]byte(`{"id":1,"result":{"tools":[{"name":"a","execution":null},{"name":"b","name":"c"}]},"error":null}`))
	f.Add([]byte(`{"id":1,"error":{"code":1}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		const mark = "task support of a fuzz test"
		if strings.Contains(string(message), mark) {
			t.Skip()
		}
		var given []string
		got, changed := AddSupport(message, func(tool, says string) string {
			if says != "" {
				return ""
			}
			given = append(given, tool)
			return mark
		})
		if changed != (given != nil) {
			t.Fatalf("changed %v, for %q", changed, given)
		}
		const execution = `,"execution":{"taskSupport":"` + mark + `"}`
		none := strings.NewReplacer(`,"execution":{}`, "") // here nobody can tell an empty one from none
		before := strings.ReplaceAll(string(got), execution, "")
		before = strings.NewReplacer(`,"taskSupport":"`+mark+`"`, "", `"taskSupport":"`+mark+`"`, "").Replace(before)
		if none.Replace(before) != none.Replace(string(message)) {
			t.Fatalf("without what was added %q is %q", got, before)
		}
		if !changed {
			return
		}
		var found []string
		for _, tool := range jsontest.Within(t, jsontest.Decode(t, got).(map[string]any), "result")["tools"].([]any) {
			o, _ := tool.(map[string]any)
			if execution, _ := o["execution"].(map[string]any); execution["taskSupport"] == mark {
				name, _ := o["name"].(string)
				found = append(found, name)
			}
		}
		if !slices.Equal(found, given) {
			t.Fatalf("found at %q, given to %q", found, given)
		}
	})
}

func BenchmarkAddTaskSupport(b *testing.B) {
	var list strings.Builder
	list.WriteString(`{"jsonrpc":"2.0","id":1,"result":{"tools":[`)
	for i := range 50 {
		fmt.Fprintf(&list, `%s{"name":"t%d","description":%q,"inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`, strings.Repeat(",", min(i, 1)), i, strings.Repeat("x", 1000))
	}
	message := []byte(list.String() + `]}}`)
	b.SetBytes(int64(len(message)))
	b.ReportAllocs()
	for b.Loop() {
		AddSupport(message, func(_, says string) string { return Optional })
	}
}
