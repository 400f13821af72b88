package mcp

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"

	"berth/internal/sse"

	"golang.org/x/tools/txtar"
)

// The archives in testdata, one folder a dialect, hold what upstreams answer:
// NAME.json is a body, NAME.sse a stream, and NAME.want has a line for each
// message in it, as describe words it.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no transcripts: %v", err)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]string{}
		for _, f := range archive.Files {
			if name, ok := strings.CutSuffix(f.Name, ".want"); ok {
				want[name] = string(f.Data)
			}
		}
		for _, f := range archive.Files {
			name, kind := strings.TrimSuffix(f.Name, filepath.Ext(f.Name)), filepath.Ext(f.Name)
			t.Run(filepath.Base(filepath.Dir(file))+"/"+f.Name, func(t *testing.T) {
				switch kind {
				case ".json":
					checkBody(t, string(f.Data), want[name])
				case ".sse":
					checkStream(t, string(f.Data), want[name])
				}
			})
		}
	}
}

func checkBody(t *testing.T, body, want string) {
	t.Helper()
	for _, mark := range []string{"", "\ufeff"} {
		if mark != "" && strings.HasPrefix(strings.TrimSpace(body), "[") {
			continue // a batch behind a mark is not looked into
		}
		if got := describeAll(t, []byte(mark+body)); got != want {
			t.Errorf("mark %q: got\n%swant\n%s", mark, got, want)
		}
	}
}

// checkStream plays a stream with each kind of line end, with a byte order mark,
// whole and in pieces.
func checkStream(t *testing.T, stream, want string) {
	t.Helper()
	for ends, replacer := range map[string]*strings.Replacer{
		"LF": strings.NewReplacer(), "CRLF": strings.NewReplacer("\n", "\r\n"), "CR": strings.NewReplacer("\n", "\r"),
	} {
		for _, mark := range []string{"", "\ufeff"} {
			marked := mark + replacer.Replace(stream)
			for how, r := range map[string]io.Reader{
				"whole": strings.NewReader(marked), "by the byte": iotest.OneByteReader(strings.NewReader(marked)), "by halves": iotest.HalfReader(strings.NewReader(marked)),
			} {
				if got := describeStream(t, r); got != want {
					t.Errorf("%s, mark %q, %s: got\n%swant\n%s", ends, mark, how, got, want)
				}
			}
		}
	}
}

// describeStream words the messages of a stream.
func describeStream(t *testing.T, stream io.Reader) string {
	t.Helper()
	var said strings.Builder
	for events := sse.NewReader(stream, MaxPeek); ; {
		event, err := events.Next()
		if err != nil {
			return said.String()
		}
		if event.Data != nil {
			said.WriteString(describeAll(t, event.Data))
		}
	}
}

func describeAll(t *testing.T, data []byte) string {
	t.Helper()
	var b strings.Builder
	for message, err := range Messages(data) {
		if err != nil {
			t.Fatalf("%s: %v", data, err)
		}
		a, err := PeekAnswer(message, false)
		if err != nil {
			t.Errorf("%s: %v", message, err)
		}
		if a.HasResult && !bytes.Contains(message, a.Result) {
			t.Errorf("the result of %s is taken for %s", message, a.Result)
		}
		b.WriteString(describe(&a) + "\n")
	}
	return b.String()
}

// describe words what an answer says; what it does not say is left out.
func describe(a *Answer) string {
	words := []string{"result"}
	switch {
	case a.Method != "" && a.ID != nil:
		words[0] = "request"
	case a.Method != "":
		words[0] = "notification"
	case a.IsError:
		words[0] = "error"
	}
	add := func(name, value string) {
		if value == "" {
			return
		}
		if strings.ContainsAny(value, " \"") && name != "id" {
			value = strconv.Quote(value)
		}
		words = append(words, name+"="+value)
	}
	add("id", string(a.ID))
	add("method", a.Method)
	if a.ErrorCode != 0 {
		add("code", strconv.Itoa(a.ErrorCode))
	}
	add("type", a.ResultType)
	if a.CreatesTask() {
		add("creates", a.Dialect.String())
	}
	add("task", a.Task.ID)
	add("status", a.Task.Status)
	if a.Task.Terminal() {
		words = append(words, "terminal")
	}
	if a.Task.TTL != 0 {
		add("ttl", fmt.Sprint(a.Task.TTL))
	}
	add("state", a.RequestState)
	add("cursor", a.NextCursor)
	add("version", a.Version)
	return strings.Join(words, " ")
}
