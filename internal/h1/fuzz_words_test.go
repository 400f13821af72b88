package h1_test

import (
	"strings"
	"testing"
	"testing/synctest"
)

// Words of which the fuzzer makes messages that are nearly right: it would not find most of them alone.
var (
	requestLines = []string{
		"GET / HTTP/1.1", "POST /mcp HTTP/1.1", "GET / HTTP/1.0", "POST / HTTP/1.0", "HEAD /x HTTP/1.1", "OPTIONS * HTTP/1.1",
		"GET http://a/x HTTP/1.1", "GET http://b/ HTTP/1.1", "CONNECT a:1 HTTP/1.1", "DELETE /?q HTTP/1.1", "GET //a/b HTTP/1.1",
		"GET /a%2fb HTTP/1.1", "GET /? HTTP/1.1", "GET /#x HTTP/1.1", "GET /a:b HTTP/1.1", "GET *x HTTP/1.1", "PRI * HTTP/2.0",
		"GET  / HTTP/1.1", "get / HTTP/1.1", "GET / HTTP/1.2", "GET http:/x HTTP/1.1", "GET https://a:x/ HTTP/1.1", "GET /\x80 HTTP/1.1",
		"OPTIONS http://a HTTP/1.1", "GET mailto:a HTTP/1.1", "GET http://[::1%25a]/ HTTP/1.1", "CONNECT / HTTP/1.1", "CONNECT a HTTP/1.1",
		"GET http://a?x HTTP/1.1", "GET ///x HTTP/1.1", "GET /;x HTTP/1.1", "GET http://u@a/ HTTP/1.1",
	}
	statusLines = []string{
		"HTTP/1.1 200 OK", "HTTP/1.1 200", "HTTP/1.1 200 ", "HTTP/1.0 200 OK", "HTTP/1.1 204 No", "HTTP/1.1 304 X", "HTTP/1.1 100 C",
		"HTTP/1.1 103 E", "HTTP/1.1 101 S", "HTTP/1.1 202 A", "HTTP/1.1 404 N", "HTTP/1.1 500 E", "HTTP/1.1 599 E", "HTTP/1.1 600 E",
		"HTTP/1.1 099 E", "HTTP/1.1 205 R", "HTTP/1.1 20", "HTTP/2.0 200 OK", "HTTP/1.1  200", "HTTP/1.1 302 F", "HTTP/1.1 199 I",
	}
	fieldLines = []string{
		"Host: a", "Host: b", "host:a", "Host: ", "Content-Length: 0", "Content-Length: 2", "Content-Length: 3", "content-length:2",
		"Content-Length: 02", "Content-Length: +2", "Content-Length: 2, 2", "Content-Length:", "Transfer-Encoding: chunked",
		"transfer-encoding:CHUNKED ", "Transfer-Encoding: identity", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding : chunked",
		"Transfer_Encoding: chunked", "Content_Length: 2", " folded", "\tfolded", "Connection: close", "Connection: keep-alive",
		"Connection: Upgrade", "Connection: x, close", "Connection: close, keep-alive", "Connection: \"close\"", "Upgrade: h2c", "Expect: 100-continue",
		"Expect: 100-Continue", "Expect: x", "Trailer: X", "Trailer: Content-Length", "X: 1", "x: 2", "X:", "X: \xff", "X: a\x00b", ": x", "X : 1", "X",
		"Pragma: no-cache", "Cache-Control: max-age=0", "Date: x", "Content-Type: a/b", "TE: trailers", "Keep-Alive: timeout=1",
		"Proxy-Connection: close", "Mcp-Session-Id: s", "mcp_session_id: t", "ETag: \"x\"", "x-y_z: 1", "X:\t1\t", "Cookie: a=b", "Cookie: c=d",
	}
	bodies = []string{
		"", "hi", "hi!", "h", "2\r\nhi\r\n0\r\n\r\n", "0\r\n\r\n", "2;x\r\nhi\r\n0\r\n\r\n", "2\r\nhi\r\n0\r\nX: 1\r\n\r\n", "2\nhi\n0\n\n",
		"1\r\nh\r\n1\r\ni\r\n0\r\n\r\n", "2\r\nhi!\r\n0\r\n\r\n", "2\r\nhi\r\n", "0\r\nContent-Length: 2\r\n\r\n", "02\r\nhi\r\n00\r\n\r\n",
		"2 \r\nhi\r\n0\r\n\r\n", "\r\n", "0\r\n", "A\r\n0123456789\r\n0;x\r\n\r\n", "2;\"\r\n\"\r\nhi\r\n0\r\n\r\n", "2\r\nhi\r\n0\r\n x\r\n\r\n",
	}
	lineEnds = []string{"\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\r\n", "\n", "\r", "\r\r\n", "", "\r\n "}
)

// say makes messages of choices, two bytes a word: which word, and, in its upper half, how its line ends.
func say(firsts []string, choices []byte) string {
	var b strings.Builder
	word := func(words []string) (string, string, bool) {
		if len(choices) < 2 {
			return "", "", false
		}
		w, end := words[int(choices[0])%len(words)], "\r\n"
		if choices[1] >= 240 {
			end = lineEnds[int(choices[1])%len(lineEnds)]
		}
		choices = choices[2:]
		return w, end, true
	}
	for b.Len() < 16<<10 {
		first, end, more := word(firsts)
		if !more {
			break
		}
		b.WriteString(first + end)
		if len(choices) == 0 {
			break
		}
		fields := int(choices[0]) % 6
		choices = choices[1:]
		for range fields {
			if line, end, more := word(fieldLines); more {
				b.WriteString(line + end)
			}
		}
		b.WriteString("\r\n")
		if body, _, more := word(bodies); more {
			b.WriteString(body)
		}
	}
	return b.String()
}

// FuzzServerInWords plays requests made of words to both servers.
func FuzzServerInWords(f *testing.F) {
	f.Add([]byte{1, 0, 2, 0, 0, 5, 0, 1, 0}, []byte{3})
	f.Add([]byte{1, 0, 2, 0, 0, 12, 0, 4, 0, 0, 0, 1, 0, 0, 0, 0}, []byte{})
	f.Fuzz(func(t *testing.T, choices, cuts []byte) {
		if len(choices) > 512 {
			return
		}
		synctest.Test(t, func(t *testing.T) { compareServers(t, split([]byte(say(requestLines, choices)), cuts)) })
	})
}

// FuzzClientInWords answers with answers made of words.
func FuzzClientInWords(f *testing.F) {
	f.Add(uint8(0), []byte{0, 0, 1, 5, 0, 1, 0}, []byte{3}, false)
	f.Add(uint8(2), []byte{0, 0, 1, 12, 0, 4, 0}, []byte{}, true)
	f.Fuzz(func(t *testing.T, method uint8, choices, cuts []byte, ends bool) {
		if len(choices) > 512 {
			return
		}
		synctest.Test(t, func(t *testing.T) {
			compareClients(t, methods[int(method)%len(methods)], split([]byte(say(statusLines, choices)), cuts), ends)
		})
	})
}
