package head

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"testing"

	"berth/internal/h1/buffer"
	"berth/internal/wire"
)

// spoken is a connection that says its text in pieces of step bytes, and ends.
type spoken struct {
	net.Conn
	text string
	step int
}

func (s *spoken) Read(p []byte) (int, error) {
	if s.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), s.step)], s.text)
	s.text = s.text[n:]
	return n, nil
}

// most is how long a head may be.
const most = 2 * mostKept

// found is all that a parser finds in a request's head, and in an answer's.
func found(p *Parser, raw string, step int) string {
	read := func(parse func(src *buffer.Reader) (string, error)) string {
		src := new(buffer.Reader)
		src.Reset(&spoken{text: raw, step: step})
		defer src.Reset(nil)
		_ = src.Fill() // who reads a head has waited for it
		said, err := parse(src)
		return fmt.Sprintf("%s, %v, left %q", said, err, src.Bytes())
	}
	if strings.HasPrefix(raw, "HTTP/") {
		return read(func(src *buffer.Reader) (string, error) {
			r, err := p.Response(src, most)
			if err != nil {
				return "", err
			}
			return fmt.Sprintf("%d %q %s", r.Status, r.Phrase, message(&r.Message)), nil
		})
	}
	return read(func(src *buffer.Reader) (string, error) {
		r, err := p.Request(src, most, nil)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%q %q %q %+v %s", r.Method, r.Target, r.Host, *r.URL, message(&r.Message)), nil
	})
}

func message(m *Message) string {
	return fmt.Sprintf("%+v %d %d %t", m.Header.Fields(), m.Minor, m.Length, m.Close)
}

// compare reads heads with one parser, one after the other, and each with a parser of its own.
func compare(t *testing.T, heads []string, step int) {
	t.Helper()
	var kept Parser
	for i, raw := range heads {
		if got, want := found(&kept, raw, step), found(new(Parser), raw, step); got != want {
			t.Fatalf("after %q, in pieces of %d:\n%q:\n got %s\nwant %s", heads[:i], step, raw, got, want)
		}
		if i%2 == 0 {
			kept.Forget()
		}
	}
}

// words are lines of which heads are made that are nearly those before.
var words = []string{
	"Host: a\r\n", "Host: b\r\n", "host: a\r\n", "Host: \r\n", "Host:a\r\n", "Content-Length: 2\r\n", "Content-Length: 23\r\n", "content-length: x\r\n",
	"Transfer-Encoding: chunked\r\n", "Accept: text/event-stream\r\n", "Accept: text/event-stream \r\n", "Accept: text/event\r\n", "accept: text\r\n",
	"Authorization: Bearer a\r\n", "Authorization: Bearer b\r\n", "Cookie: a\r\n", "Mcp-Name: a\r\n", "Mcp-Name: b\r\n", "X-Api-Key: k\r\n",
	"Connection: close\r\n", "Connection: keep-alive\r\n", "Connection: x\r\n", "User-Agent: a\n", "User-Agent: a\r\n", "User-Agent: \x00\r\n", "x-y: 1\r\n", "X-Y: 1\r\n",
	"Content_Length: 2\r\n", "User-Agent : a\r\n", "Trailer: Host\r\n", "\r\n", "Vary: a\r\n folded\r\n", "Vary: a", "Accept: " + strings.Repeat("x", 1500) + "\r\n",
}

var firsts = []string{"POST /mcp HTTP/1.1\r\n", "GET / HTTP/1.0\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.0 204\r\n"}

// A head is read as if no other had been read before, whatever that said, and where its lines stood.
func TestAHeadAfterOthersIsReadAsAlone(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		var heads []string
		lines := []string{words[0]}
		first := firsts[chance.IntN(len(firsts))]
		for range 3 * strange {
			heads = append(heads, first+strings.Join(lines, "")+"\r\nrest")
			switch at := chance.IntN(len(lines) + 1); chance.IntN(4) {
			case 0: // the same again
			case 1:
				lines = slices.Delete(slices.Clone(lines), min(at, len(lines)), min(at+1, len(lines)))
			default:
				lines = slices.Insert(slices.Clone(lines), at, words[chance.IntN(len(words))])
			}
			if chance.IntN(8) == 0 {
				first = firsts[chance.IntN(len(firsts))]
			}
		}
		step := 1 + chance.IntN(40)
		if chance.IntN(2) == 0 {
			step = most // at once
		}
		compare(t, heads, step)
	}
}

// A head that is the known one but for what is its caller's own is read as if no other had been read before, whatever that is, and
// wherever else it differs.
func TestAHeadOfTheSameLinesIsReadAsAlone(t *testing.T) {
	for _, first := range firsts {
		head := func(host, length, token, name, more string) string {
			return first + "Host: " + host + "\r\nAuthorization: " + token + "\r\nContent-Length: " + length + "\r\nAccept: a\r\nMcp-Name: " + name + "\r\nVary: b\r\n" + more + "\r\nrest"
		}
		known := head("a", "2", "Bearer a", "n", "")
		others := []string{
			head("b", "2", "Bearer a", "n", ""), head("", "2", "Bearer a", "n", ""), head("a", "3", "Bearer a", "n", ""), head("a", "x", "Bearer a", "n", ""),
			head("a", "2", "Bearer a", "n", "Content-Length: 2\r\n"), head("a", "2", "Bearer a", "n", "Host: a\r\n"), head("a", "2", "Bearer a", "n", "Cookie: c\r\n"),
			strings.Replace(known, "Vary: b\r\n", "", 1), strings.Replace(known, "Mcp-Name: n\r\n", "", 1), strings.Replace(known, "\r\nA", "\nA", 1), strings.Replace(known, "Bearer a\r", "Bearer abc", 1),
			strings.Replace(known, "Mcp-Name: ", "Mcp-Name:", 1), strings.Replace(known, "Mcp-Name", "mcp-name", 1), strings.Replace(known, "Mcp-Name", "Mcp-Namf", 1),
			strings.Replace(known, "HTTP/1.1", "HTTP/1.0", 1), strings.Replace(known, "HTTP/1.0", "HTTP/1.1", 1), strings.TrimSuffix(known, "\r\nrest"), strings.TrimSuffix(known, "\nrest"),
		}
		for _, value := range []string{
			"", "m", "Bearer b", " a", "a ", "\ta", "a\t", "a\tb", "a\rb", "a\r", "a\nb", "a\x00", "\x7fa", "a\x7fbcdefgh", "\x80", "a\r\n b", "a\r\n\tb",
			"a\r\nCookie: c", "a\r\n\r\n", strings.Repeat("x", most), strings.Repeat("x", most-len(known)),
		} {
			others = append(others, head("a", "2", value, "n", ""), head("a", "2", "Bearer a", value, ""), head("a", "2", value, value, ""))
		}
		for _, other := range others {
			for _, step := range []int{1, 50, 2 * most} {
				compare(t, []string{known, known, other, known, other, other}, step)
			}
		}
		for _, line := range []string{"Content-Length:2\r\n", "CONTENT-LENGTH: 2\r\n", "Content-Length: 2\r\n", "Host:a\r\n", "Accept:a\r\n", "X-Y: z\r\n", strings.Repeat("Cookie: c\r\n", mostOwn+1)} {
			head := func(line string) string {
				return first + "User-Agent: u\r\n" + line + "Cookie: d\r\nVary: b\r\n\r\nrest"
			}
			for _, other := range []string{"", "Content-Length: 3\r\n", "Content-Length: 2\r\n", "Host: b\r\n", "Accept: a\r\n", "Cookie: e\r\n"} {
				compare(t, []string{head(line), head(line), head(other), head(line), head(other)}, most)
			}
		}
		chunked := strings.Replace(known, "Content-Length: 2", "Transfer-Encoding: chunked", 1)
		old := strings.Replace(chunked, "HTTP/1.1", "HTTP/1.0", 1)
		compare(t, []string{chunked, chunked, old, chunked, strings.Replace(chunked, "HTTP/1.0", "HTTP/1.1", 1), chunked}, most)
	}
}

// A first line that was said before is judged again where something else stands behind it.
func TestAFirstLineIsReadAsAlone(t *testing.T) {
	for _, first := range firsts {
		line, fields := strings.TrimSuffix(first, "\r\n"), "Host: a\r\n\r\n"
		for _, other := range []string{
			first, line + "\n", line + "\r", line + " \r\n", line + "1\r\n", line + "\r\r\n", line + "\x00\r\n", line, line[1:] + "\r\n", "\r\n", "", "\r\n" + first, line[:len(line)-1] + "2\r\n",
		} {
			for _, step := range []int{1, len(line), len(first), most} {
				compare(t, []string{other + fields, first + fields, other + fields, first + fields, other + fields, first[:len(line)], first + fields}, step)
			}
		}
	}
}

// Of a head that is the known one but for what is its caller's own no line is judged by itself.
func TestAWholeHeadIsTakenOver(t *testing.T) {
	const first, kept = "GET / HTTP/1.1\r\n", "Host: a\r\nAccept: b\r\nAuthorization: Bearer a\r\nUser-Agent: c\r\n"
	p := Parser{lore: newLore()}
	found(&p, first+kept+"\r\n", most)
	for raw, whole := range map[string]bool{
		kept: true, strings.Replace(kept, "Bearer a", "Bearer bc", 1): true, strings.Replace(kept, "User", "Mcp-Name: n\r\nUser", 1): false, kept + "X: y\r\n": false,
	} {
		if found(&p, first+raw+"\r\n", most); (len(p.parts) == 0) != whole {
			t.Errorf("%q is judged in %d parts", raw, len(p.parts))
		}
	}
	before := p.known
	for range strange {
		found(&p, first+"Host: b\r\n\r\n", most)
		found(&p, first+kept+"\r\n", most)
	}
	if p.known != before {
		t.Errorf("a head that alternates is learnt: %q", p.known.text)
	}
}

// A line that is a caller's own is judged by itself, a line that many say is taken over.
func TestWhichLinesAreTakenOver(t *testing.T) {
	const raw = "POST / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer a\r\nAccept: b\r\nX-Api-Key: c\r\nCookie: d\r\nMcp-Session-Id: e\r\nUser-Agent: f\r\n\r\n"
	p := Parser{lore: newLore()}
	found(&p, raw, 1<<10)
	var names []string
	for i, l := range p.known.lines {
		if l.run > i {
			names = append(names, l.usual.name)
		}
	}
	if want := []string{"Host", "Accept", "User-Agent"}; !slices.Equal(names, want) {
		t.Errorf("got %q, want %q", names, want)
	}
	for _, name := range own {
		if wire.UsualOf(name) == 0 || wire.CanonicalName(name) != name {
			t.Errorf("%s is no usual name", name)
		}
	}
}

// What is kept of a head is bounded, is nobody's own, and is gone where the head is to be kept for long.
func TestWhatIsKeptOfAHead(t *testing.T) {
	const first, lines, kept = "GET / HTTP/1.1\r\n", "Host: a\r\nAccept: b\r\n", "Host: a\r\nAccept: b\r\nAuthorization: "
	p := Parser{lore: newLore()}
	found(&p, first+lines+"Authorization: Bearer a\r\nX-Api-Key: c\r\n\r\n", 1<<10)
	if p.known.text != kept {
		t.Errorf("kept %q", p.known.text)
	}
	for range strange {
		found(&p, first+lines+strings.Repeat("Vary: b\r\n", mostKept/8)+"\r\n", 1<<10)
	}
	for range strange {
		found(&p, first+lines+strings.Repeat("Mcp-Session-Id: s\r\n", mostLines/2)+"Vary: "+strings.Repeat("b", mostKept/2)+"\r\n\r\n", 1<<10)
	}
	if p.known.text != kept {
		t.Errorf("kept %d bytes", len(p.known.text))
	}
	for range strange {
		found(&p, first+lines+"Etag: e\r\n"+strings.Repeat("Via:\r\n", mostLines)+"\r\n", 1<<10)
	}
	if p.Forget(); p.known.text != kept || len(p.known.lines) > mostLines || cap(p.spare.lines) > mostLines || p.parts != nil {
		t.Errorf("kept %d lines", cap(p.spare.lines))
	}
	found(&p, "GET /?key=k HTTP/1.1\r\n"+lines+"\r\n", 1<<10)
	if p.Forget(); p.asked != (requestLine{}) {
		t.Errorf("kept %+v", p.asked)
	}
	found(&p, first+lines+"\r\n", 1<<10)
	for i := range strange {
		if p.known.text != kept {
			t.Errorf("kept %q after %d other heads", p.known.text, i)
		}
		found(&p, first+"Host: b\r\nCookie: d\r\n\r\n", 1<<10)
	}
	if p.known.text != "Host: b\r\nCookie: " {
		t.Errorf("kept %q", p.known.text)
	}
	if all := p.spare.fields.Spare(0)[:p.spare.fields.Room()]; slices.ContainsFunc(all, func(f wire.Field) bool { return f != wire.Field{} }) {
		t.Errorf("kept %v in vain", all)
	}
	if p.Stand(); p.known != nil || p.spare != nil || p.parts != nil || p.asked.text != "" || p.asked.parsed != nil {
		t.Errorf("kept %+v, %+v and %+v beside a head that stands", p.known, p.spare, p.asked)
	}
}

// What a parser that stands has learnt is known to another one. The pool in between keeps not all that it is given.
func TestLoreIsHandedDown(t *testing.T) {
	const first, kept = "GET / HTTP/1.1\r\n", "Host: handed.down\r\nAccept: b\r\n"
	for range 1000 {
		var p, heir Parser
		found(&p, first+kept+"\r\n", 1<<10)
		head := found(&p, first+kept+"\r\n", 1<<10)
		known := p.known
		if p.Stand(); p.request.Host != "handed.down" || p.request.URL.Path != "/" {
			t.Fatalf("a parser that stands has %+v", p.request)
		}
		got := found(&heir, first+kept+"\r\n", 1<<10)
		if got != head {
			t.Fatalf("got %s, want %s", got, head)
		}
		if heir.known == known {
			return
		}
	}
	t.Error("nothing is handed down")
}

// FuzzHeadAfterAnother reads a head after another one, until it is the known one, and then that again.
func FuzzHeadAfterAnother(f *testing.F) {
	const raw = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nAccept: a\r\nVary: b\r\n\r\n"
	f.Add(raw, raw, uint8(5))
	f.Add(raw, strings.Replace(raw, "2", "23", 1), uint8(255))
	f.Add("HTTP/1.1 200 OK\r\nVary: a\r\n\r\n", "HTTP/1.1 200 OK\r\nDate: x\r\nVary: a\r\n\r\n", uint8(1))
	f.Fuzz(func(t *testing.T, before, raw string, step uint8) {
		heads := append([]string{before}, slices.Repeat([]string{raw}, strange+1)...)
		compare(t, append(heads, before), 1+int(step))
	})
}
