package framing

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"regexp"
	"testing"
)

// FuzzServerFramesAsGate plays any bytes to net/http behind the gate. What handlers
// saw whole must be, one for one, the messages into which the gate cut the bytes;
// each of these must be one request and nothing else to http.ReadRequest; and its
// head must look clean to a reader that shares no code with either.
func FuzzServerFramesAsGate(f *testing.F) {
	for _, tc := range framingCases() {
		f.Add([]byte(tc.raw), uint16(1))
		f.Add([]byte(tc.raw), uint16(4096))
	}
	run := scripted(f)
	f.Fuzz(func(t *testing.T, raw []byte, step uint16) {
		messages, refused := cut(raw)
		checkPieces(t, raw, refused)
		s := newScript(raw, int(step)+1)
		run(s)
		if len(s.seen) > len(messages)+1 {
			t.Fatalf("handlers saw %d requests, the gate framed %d", len(s.seen), len(messages))
		}
		for i, got := range s.seen {
			if !got.whole {
				if i != len(s.seen)-1 {
					t.Fatalf("request %d was cut short, yet another followed it", i)
				}
				return
			}
			if i >= len(messages) {
				t.Fatalf("handlers saw %d requests, the gate framed %d", len(s.seen), len(messages))
			}
			if want := reread(t, messages[i]); got != want {
				t.Fatalf("handler saw %+v, want %+v", got, want)
			}
			checkClean(t, messages[i])
		}
	})
}

// cut returns the whole messages that the gate sees in raw, taking it byte by
// byte, and why it lets the rest not pass.
func cut(raw []byte) (messages [][]byte, refused error) {
	s := stream{maxHeader: defaultMaxHeader}
	s.next()
	start := 0
	for i := range raw {
		before := s.at
		if _, err := s.pass(raw[i : i+1]); err != nil {
			return messages, err
		}
		if before != requestLine && s.at == requestLine {
			messages = append(messages, raw[start:i+1])
			start = i + 1
		}
	}
	return messages, nil
}

// checkPieces checks that the gate judges bytes that come at once as it judged
// them one by one.
func checkPieces(t *testing.T, raw []byte, refused error) {
	s := stream{maxHeader: defaultMaxHeader}
	s.next()
	if _, err := s.pass(raw); err != refused {
		t.Fatalf("refused for %v at once, for %v byte by byte", err, refused)
	}
}

// reread reads message with http.ReadRequest and checks that nothing is left.
func reread(t *testing.T, message []byte) request {
	in := bufio.NewReader(bytes.NewReader(message))
	r, err := http.ReadRequest(in)
	if err != nil {
		t.Fatalf("%q: %v", message, err)
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatalf("%q: %v", message, err)
	}
	if rest, _ := io.ReadAll(in); len(rest) > 0 {
		t.Fatalf("%q: %q is left over", message, rest)
	}
	return request{r.Method, r.RequestURI, r.Host, string(body), true}
}

var (
	cleanHead = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [!-~]+ HTTP/1\\.[01]\r\n" +
		"([!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\x00-\x08\n-\x1f\x7f]*\r\n)*\r\n")
	framingField = regexp.MustCompile("(?i)\n(content[-_]length:[ \t]*[0-9]+|transfer[-_]encoding:[ \t]*chunked)[ \t]*\r")
	framingName  = regexp.MustCompile("(?i)\n(content[-_]length|transfer[-_]encoding):")
	hostName     = regexp.MustCompile("(?i)\nhost:")
)

// checkClean checks that message's head has clean lines, at most one framing field,
// which is clean too, and one Host.
func checkClean(t *testing.T, message []byte) {
	head := cleanHead.Find(message)
	if head == nil {
		t.Fatalf("%q: head is not clean", message)
	}
	names, fields := len(framingName.FindAll(head, -1)), len(framingField.FindAll(head, -1))
	if names > 1 || names != fields {
		t.Fatalf("%q: %d framing fields, %d of them clean", message, names, fields)
	}
	hosts := len(hostName.FindAll(head, -1))
	if hosts > 1 || hosts == 0 && !bytes.Contains(head, []byte(" HTTP/1.0\r\n")) {
		t.Fatalf("%q: %d hosts", message, hosts)
	}
}
