package mcp

import (
	"bytes"
	"strings"
	"testing"

	"berth/internal/jsonobject"
	"berth/internal/recall"
)

// forget has nothing be known.
func forget[T any](m *recall.Memory[T]) { *m = recall.New[T](len(m.Places)) }

// keptIn are the forms that are known.
func keptIn[T any](m *recall.Memory[recall.Alike[T]]) (kept []T) {
	for i := range m.Places {
		for _, f := range recall.Those(&m.Places[i]) {
			kept = append(kept, *f)
		}
	}
	return kept
}

// forgetClients has nothing be known of clients and their messages.
func forgetClients() {
	forget(&selves)
	forgetForms()
}

func forgetForms() {
	forget(&callForms)
	forget(&answerForms)
	forget(&noticeForms)
}

func peeked(body []byte) (m *Message, id []byte, refused *Error) {
	m = new(Message)
	id, refused = m.Peek(bytes.Clone(body), testBatch)
	return m, id, refused
}

func selfBodies() []string {
	const before = `{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"taskId":"t","_meta":{`
	const version, client = `"` + MetaVersion + `":"2026-07-28"`, `"` + MetaClientInfo + `":{"name":"x","version":"2026-07-28"}`
	const capable = `"` + MetaCapabilities + `":{"extensions":{"` + TasksExtension + `":{}}}`
	return []string{
		string(usualPoll),
		before + version + "," + capable + `}}}`,
		before + capable + "," + version + `,"progressToken":1}}}`,
		before + client + ", " + version + `,` + capable + `,"traceparent":"00-1"},"x":1}}`,
	}
}

// A `_meta` that begins alike and has a member of these once more behind it is refused.
func TestAKnownClientsMembersStandThereOnce(t *testing.T) {
	forget(&selves)
	for range 2 {
		if _, _, refused := peeked(usualPoll); refused != nil {
			t.Fatal(refused)
		}
		for _, name := range []string{MetaVersion, MetaClientInfo, MetaCapabilities} {
			twice := strings.Replace(string(usualPoll), `"progressToken":`, `"`+name+`":`, 1)
			if _, _, refused := peeked([]byte(twice)); refused == nil || refused.Reason != jsonobject.ReasonDuplicateKey {
				t.Errorf("%s twice: %v", name, refused)
			}
		}
	}
}

// What is kept of a client is nothing of one message alone, and not large.
func TestOnlyWhatAClientSaysOfItselfIsKept(t *testing.T) {
	forget(&selves)
	const before = `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"_meta":{`
	for name, body := range map[string]string{
		"a token before it":   before + `"progressToken":1,"` + MetaCapabilities + `":{}}}}`,
		"an unknown member":   before + `"x":1,"` + MetaCapabilities + `":{}}}}`,
		"a faulty one":        before + `"` + MetaCapabilities + `":{"x":1,"x":1}}}}`,
		"no object":           before + `"` + MetaCapabilities + `":1}}}`,
		"beyond ASCII":        before + `"` + MetaCapabilities + `":{"x":"é"}}}}`,
		"large":               before + `"` + MetaCapabilities + `":{"x":"` + strings.Repeat("x", maxSelf) + `"}}}}`,
		"cut":                 before + `"` + MetaCapabilities + `":{"x":`,
		"broken capabilities": before + `"` + MetaCapabilities + `":{,}}}}`,
	} {
		_, _, _ = peeked([]byte(body))
		for i := range selves.Places {
			if kept := selves.Places[i].Load(); kept != nil {
				t.Fatalf("%s: kept %q", name, kept.text)
			}
		}
	}
}
