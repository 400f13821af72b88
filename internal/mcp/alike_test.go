//go:build e2e || !race

package mcp

import (
	"bytes"
	"reflect"
	"testing"
)

// What is tried here with each byte of a message changed does one thing at a time: to look for races costs ten times
// as long, and finds none.

// A request is read alike whether one like it was read before or not, whatever of it has changed.
func TestARequestIsReadAlikeAgain(t *testing.T) {
	for _, body := range formBodies() {
		for i := range len(body) + 1 {
			for _, put := range []string{
				"", `"`, "{", "}", ",", "x", "1", " ", `\`, `\u0041`, "é", "\x80", `"x":1,`, "null", "[]", `"id":2,`, `"taskId":2,`, `"arguments":2,`, `"progressToken":{},`,
			} {
				changed := []byte(body[:i] + put + body[min(i+1, len(body)):])
				forgetClients()
				want, wantID, wantRefused := peeked(changed)
				forgetClients()
				_, _, _ = peeked([]byte(body))
				if got, id, refused := peeked(changed); !reflect.DeepEqual(got, want) || !bytes.Equal(id, wantID) || !reflect.DeepEqual(refused, wantRefused) {
					t.Fatalf("%s\ngot %+v, %v\nwant %+v, %v", changed, got.single[0], refused, want.single[0], wantRefused)
				}
			}
		}
	}
}

// An answer is read alike whether one like it was read before or not, whatever of it has changed, and whoever asks.
func TestAnAnswerIsReadAlikeAgain(t *testing.T) {
	for _, body := range []string{
		`{"jsonrpc":"2.0","id":1,"result":{` + usualView + `,"resultType":"complete"}}`,
		`{"jsonrpc":"2.0","id":1,"result": {"resultType":"task",` + usualView + `} ,"x":1}`,
		`{"result":{` + usualView + `},"jsonrpc":"2.0","id":"1"} `,
		`{"jsonrpc":"2.0","id":1,"result":{"task":{` + usualView + `},"_meta":{}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"id":2,"taskId":"t"}],"structuredContent":{"id":3},"isError":true}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"id":2,"content":[]}}`,
	} {
		for i := range len(body) {
			for _, put := range []string{
				"", `"`, "{", "}", ",", "x", "1", " ", `\`, `\u0041`, "é", `"x":1,`, "null", `"isError":true,`, `"taskId":2,`, `"nextCursor":"2",`, `"error":{},`, `"id":2,`, "[[",
			} {
				changed := body[:i] + put + body[i+1:]
				for _, asked := range []string{"task-00000001", ""} {
					for known, cut := range map[string]bool{"task-00000001": false, "task-00000002": false, "": true} {
						forgetForms()
						want, wantErr := peekedTo(asked, changed, cut)
						forgetForms()
						_, _ = peekedTo(known, body, false)
						if got, err := peekedTo(asked, changed, cut); !reflect.DeepEqual(got, want) || !reflect.DeepEqual(err, wantErr) {
							t.Fatalf("%s\ngot %+v, %v\nwant %+v, %v", changed, got, err, want, wantErr)
						}
					}
				}
			}
		}
	}
}

// What a client says of itself is read alike whether it was read before or not, whatever of it has changed.
func TestAClientIsReadAlikeAgain(t *testing.T) {
	for _, body := range selfBodies() {
		for i := range len(body) {
			for _, put := range []string{"", `"`, "{", "}", ",", "x", "1", " ", `\`, "é", "\x80", `"x":1,`} {
				changed := []byte(body[:i] + put + body[i+1:])
				forgetClients()
				want, wantID, wantRefused := peeked(changed)
				forgetClients()
				_, _, _ = peeked([]byte(body))
				forgetForms() // else it is the message that is known
				if got, id, refused := peeked(changed); !reflect.DeepEqual(got, want) || !bytes.Equal(id, wantID) || !reflect.DeepEqual(refused, wantRefused) {
					t.Fatalf("%s\ngot %+v, %v\nwant %+v, %v", changed, got.single[0], refused, want.single[0], wantRefused)
				}
			}
		}
	}
}

// A call is sent alike whether one like it was sent before or not, whatever of it has changed.
func TestAFirstRoundIsMadeAlikeAgain(t *testing.T) {
	first := func(token, body string) ([]byte, error) { return Round{ProgressToken: token}.Body([]byte(body)) }
	for _, body := range formBodies() {
		for i := range len(body) + 1 {
			for _, put := range []string{"", `"`, "{", ",", "x", "1", `\`, `"x":1,`, `"Extensions":2,`, `"progressToken":{},`, `"_meta":null,`} {
				changed := body[:i] + put + body[min(i+1, len(body)):]
				forgetClients()
				if _, _, refused := peeked([]byte(changed)); refused != nil {
					continue // nobody sends it
				}
				forgetClients()
				want, wantErr := first("t", changed)
				_, _, _ = peeked([]byte(body))
				for _, token := range []string{"other", `an"other`} {
					_, _ = first(token, body)
				}
				got, err := first("t", changed)
				if !bytes.Equal(got, want) || !reflect.DeepEqual(err, wantErr) {
					t.Fatalf("%s\ngot  %s, %v\nwant %s, %v", changed, got, err, want, wantErr)
				}
			}
		}
	}
}
