package taskwire

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestReadTaskListKeepsBytes(t *testing.T) {
	const first, second = `{ "taskId":"a","status":"working", "x":1.0,"y":[ "Ω" ] }`, `{"taskId":"b"}`
	list, err := ReadList([]byte(`{"_meta":{},"tasks":[` + first + ` ,` + second + `],"nextCursor":"c\u0031"}`))
	if err != nil || len(list.Tasks) != 2 || list.NextCursor != "c1" {
		t.Fatalf("got %+v, %v", list, err)
	}
	if list.Tasks[0].ID != "a" || string(list.Tasks[0].Raw) != first || list.Tasks[1].ID != "b" {
		t.Errorf("got %+v", list.Tasks)
	}
	if got, want := string(list.Result()), `{"tasks":[`+first+`,`+second+`],"nextCursor":"c1"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := string(List{}.Result()); got != `{"tasks":[]}` {
		t.Errorf("none: got %s", got)
	}
}

func TestReadTaskListRefusesWhatTwoReadersCouldReadDifferently(t *testing.T) {
	for name, result := range map[string]string{
		"no object":          `[]`,
		"no tasks":           `{"nextCursor":"a"}`,
		"tasks no list":      `{"tasks":{}}`,
		"tasks twice":        `{"tasks":[],"tasks":[]}`,
		"tasks in two cases": `{"tasks":[],"Tasks":[]}`,
		"cursor twice":       `{"tasks":[],"nextCursor":"a","nextCursor":"b"}`,
		"cursor no string":   `{"tasks":[],"nextCursor":7}`,
		"id twice":           `{"tasks":[{"taskId":"a","taskId":"b"}]}`,
		"id in two cases":    `{"tasks":[{"taskId":"a","taskid":"b"}]}`,
		"id no string":       `{"tasks":[{"taskId":7}]}`,
		"no id":              `{"tasks":[{"taskId":"a"},{"status":"working"}]}`,
		"task no object":     `{"tasks":["a"]}`,
		"cut off":            `{"tasks":[{"taskId":"a"}`,
		"trailing":           `{"tasks":[]} x`,
	} {
		if list, err := ReadList([]byte(result)); err == nil {
			t.Errorf("%s: got %+v, want an error", name, list)
		}
	}
	for _, end := range []string{`{"tasks":[]}`, `{"tasks":[],"nextCursor":null}`, `{"tasks":[],"nextCursor":""}`} {
		if list, err := ReadList([]byte(end)); err != nil || list.NextCursor != "" {
			t.Errorf("%s: got %+v, %v, want the end", end, list, err)
		}
	}
}

func TestWithCursor(t *testing.T) {
	const quoted = `"a\"b"`
	for body, want := range map[string]string{
		`{"id":1.0, "params" : {"cursor":"old","_meta":{ "x":1}},"method":"m"}`: `{"id":1.0, "params" : {"cursor":` + quoted + `,"_meta":{ "x":1}},"method":"m"}`,
		`{"id":1,"method":"m"}`:               `{"id":1,"method":"m","params":{"cursor":` + quoted + `}}`,
		`{"id":1,"method":"m","params":null}`: `{"id":1,"method":"m","params":{"cursor":` + quoted + `}}`,
	} {
		if got := string(WithCursor([]byte(body), `a"b`)); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := string(WithCursor([]byte(`{"params":{"a":1,"cursor":"old"}}`), "")); got != `{"params":{"a":1}}` {
		t.Errorf("left out: got %s", got)
	}
}

// FuzzReadTaskList: what is taken is what encoding/json reads, too.
func FuzzReadTaskList(f *testing.F) {
	f.Add(`{"tasks":[{"taskId":"a"}],"nextCursor":"b"}`)
	f.Add(`{"tasks":[{"taskId":"a","taskId":"b"}]}`)
	f.Fuzz(func(t *testing.T, result string) {
		list, err := ReadList([]byte(result))
		if err != nil || !json.Valid([]byte(result)) || strings.ContainsRune(result, '�') {
			return
		}
		var other struct{ Tasks []struct{ TaskID string } }
		if err := json.Unmarshal([]byte(result), &other); err != nil || len(other.Tasks) != len(list.Tasks) {
			t.Fatalf("got %+v, encoding/json reads %+v, %v", list, other, err)
		}
		for i := range other.Tasks {
			if list.Tasks[i].ID != other.Tasks[i].TaskID {
				t.Errorf("got id %q, encoding/json reads %q", list.Tasks[i].ID, other.Tasks[i].TaskID)
			}
		}
		if _, err := ReadList(list.Result()); err != nil {
			t.Errorf("the page that was made cannot be read: %v", err)
		}
	})
}
