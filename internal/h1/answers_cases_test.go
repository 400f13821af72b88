package h1_test

import (
	"fmt"
	"strings"
)

// cleanAnswers are those without doubt.
func cleanAnswers() []answerCase {
	return []answerCase{
		{"length", "", ok + "Content-Length: 2\r\n\r\nhi", false, "200 hi", "kept", ""},
		{"length 0", "", ok + "Content-Length: 0\r\n\r\n", false, "200 ", "kept", ""},
		{"length with blanks and zeros", "", ok + "content-LENGTH: \t 002 \t\r\n\r\nhi", false, "200 hi", "kept", ""},
		{"chunks", "", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", false, "200 hi", "kept", ""},
		{"chunks in capitals", "", ok + "TRANSFER-ENCODING: Chunked\r\n\r\n0A\r\n0123456789\r\n0\r\n\r\n", false, "200 0123456789", "kept", ""},
		{"chunks with extensions", "", ok + "Transfer-Encoding: chunked\r\n\r\n2;a=\"b\"\r\nhi\r\n0;c\r\n\r\n", false, "200 hi", "kept", ""},
		{"trailers", "", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX: 1\r\n\r\n", false, "200 hi", "kept", ""},
		{"until close", "", ok + "\r\nhi", true, "200 hi", "new", ""},
		{"empty until close", "", ok + "\r\n", true, "200 ", "new", ""},
		{"an answer as body until close", "", ok + "\r\n" + polite, true, "200 " + polite, "new", ""},
		{"http 1.0 until close", "", "HTTP/1.0 200 OK\r\n\r\nhi", true, "200 hi", "new", ""},
		{"http 1.0 with a length", "", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", false, "200 hi", "new", ""},
		{"http 1.0 that stays", "", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nhi", false, "200 hi", "kept", ""},
		{"close", "", ok + "Connection: close\r\nContent-Length: 2\r\n\r\nhi", false, "200 hi", "new", ""},
		{"close in a list", "", ok + "Connection: x, CLOSE\r\nContent-Length: 2\r\n\r\nhi", false, "200 hi", "new", ""},
		{"closed behind a whole answer", "", ok + "Content-Length: 2\r\n\r\nhi", true, "200 hi", "new", ""},
		{"HEAD with a length", "HEAD", ok + "Content-Length: 200\r\n\r\n", false, "200 ", "kept", ""},
		{"HEAD with chunks announced", "HEAD", ok + "Transfer-Encoding: chunked\r\n\r\n", false, "200 ", "kept", ""},
		{"HEAD without framing", "HEAD", ok + "\r\n", false, "200 ", "kept", ""},
		{"204", "", "HTTP/1.1 204 No Content\r\n\r\n", false, "204 ", "kept", ""},
		{"304", "", "HTTP/1.1 304 Not Modified\r\n\r\n", false, "304 ", "kept", ""},
		{"304 with a length", "", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false, "304 ", "kept", ""},
		{"no phrase", "", "HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi", false, "200 hi", "kept", ""},
		{"phrase in Latin-1", "", "HTTP/1.1 200 \xe4 b\r\nContent-Length: 2\r\n\r\nhi", false, "200 hi", "kept", ""},
		{"neither phrase nor blank", "", "HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", false, "200 hi", "kept", "RFC 9112, 4, has a blank; servers forget it"},
		{"100 first", "", "HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi", false, "200 hi", "kept", ""},
		{"100 and 103 first", "", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi", false, "200 hi", "kept", ""},
		{"odd values", "", ok + "A:\r\nB: \xff\t\x80\r\nContent-Length: 2\r\n\r\nhi", false, "200 hi", "kept", ""},
		{"several of one name", "", ok + "A: 1\r\nB: x\r\na: 2\r\nContent-Length: 2\r\n\r\nhi", false, "200 hi", "kept", ""},
	}
}

// statusAnswers: status lines (RFC 9112, 4; RFC 9110, 15).
func statusAnswers() (all []answerCase) {
	const length0 = "Content-Length: 0\r\n\r\n"
	for _, first := range []string{
		"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 101 Switching Protocols\r\nContent-Length: 2\r\n\r\n{}",
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching Protocols\r\n\r\n",
		"HTTP/1.1 099 Low\r\n" + length0,
		"HTTP/1.1 000 Nothing\r\n" + length0,
		"HTTP/1.1 600 High\r\n" + length0,
		"HTTP/1.1 999 High\r\n" + length0,
		"HTTP/1.1 -12 Negative\r\n" + length0,
		"HTTP/1.1 +20 Signed\r\n" + length0,
		"HTTP/1.1 1000 Long\r\n" + length0,
		"HTTP/1.1 20 Short\r\n" + length0,
		"HTTP/1.1 2000 Long\r\n" + length0,
		"HTTP/1.1 0200 Long\r\n" + length0,
		"HTTP/1.1 2 00 Apart\r\n" + length0,
		"HTTP/1.1 two Word\r\n" + length0,
		"HTTP/1.1 0xC8 Hexadecimal\r\n" + length0,
		"HTTP/1.1 2.0 Point\r\n" + length0,
		"HTTP/1.1 \r\n" + length0,
		"HTTP/1.1\r\n" + length0,
		"HTTP/1.1  200 Two blanks\r\n" + length0,
		"HTTP/1.1\t200 Tab\r\n" + length0,
		" HTTP/1.1 200 Leading blank\r\n" + length0,
		"HTTP/0.9 200 OK\r\n" + length0,
		"HTTP/1.2 200 OK\r\n" + length0,
		"HTTP/2.0 200 OK\r\n" + length0,
		"HTTP/2 200 OK\r\n" + length0,
		"HTTP/1 200 OK\r\n" + length0,
		"HTTP/1.10 200 OK\r\n" + length0,
		"HTTP/01.1 200 OK\r\n" + length0,
		"HTTP/11.1 200 OK\r\n" + length0,
		"http/1.1 200 OK\r\n" + length0,
		"HTTPS/1.1 200 OK\r\n" + length0,
		"ICY 200 OK\r\n" + length0,
		"200 OK\r\n" + length0,
		"hello, this is a body of HTTP/0.9\r\n\r\n",
		"{\"jsonrpc\":\"2.0\"}\r\n\r\n",
		"\r\n\r\n",
		"\r\n" + ok + length0,
		"\x00" + ok + length0,
		"HTTP/1.1 200 O\x00K\r\n" + length0,
		"HTTP/1.1 200 O\rK\r\n" + length0,
	} {
		all = append(all, answerCase{"status line " + fmt.Sprintf("%.44q", first), "", first, false, "garbled", "new", "RFC 9112, 4"})
	}
	return all
}

// framedAnswers: bodies whose end two readers could see in different places (RFC 9112, 6.3).
func framedAnswers() (all []answerCase) {
	garbled := func(source, name, fields, body string) {
		raw := ok + strings.ReplaceAll(fields, "\n", "\r\n") + "\r\n" + body
		all = append(all, answerCase{"framing: " + name, "", raw, false, "garbled", "new", source})
	}
	cut := func(source, name, body string) {
		all = append(all, answerCase{"chunks: " + name, "", ok + "Transfer-Encoding: chunked\r\n\r\n" + body, false, "200 cut", "new", source})
	}
	const chunks, smuggling = "2\r\nhi\r\n0\r\n\r\n", "response smuggling"
	garbled(smuggling, "length and coding", "Content-Length: 2\nTransfer-Encoding: chunked\n", chunks)
	garbled(smuggling, "coding and length", "Transfer-Encoding: chunked\nContent-Length: 12\n", chunks)
	garbled(smuggling, "two lengths", "Content-Length: 2\nContent-Length: 3\n", "hi!")
	garbled(smuggling, "two equal lengths", "Content-Length: 2\nContent-Length: 2\n", "hi")
	garbled(smuggling, "length list", "Content-Length: 2, 2\n", "hi")
	garbled("", "length with plus", "Content-Length: +2\n", "hi")
	garbled("", "negative length", "Content-Length: -2\n", "hi")
	garbled("", "hexadecimal length", "Content-Length: 0x2\n", "hi")
	garbled("", "letters in length", "Content-Length: a\n", "hi")
	garbled("", "empty length", "Content-Length:\n", "hi")
	garbled("", "length that overflows", "Content-Length: 18446744073709551618\n", "hi")
	garbled("", "length above 63 bits", "Content-Length: 9223372036854775808\n", "hi")
	garbled("", "gzip, chunked", "Transfer-Encoding: gzip, chunked\n", chunks)
	garbled("", "chunked, gzip", "Transfer-Encoding: chunked, gzip\n", chunks)
	garbled("", "xchunked", "Transfer-Encoding: xchunked\n", chunks)
	garbled("", "identity", "Transfer-Encoding: identity\n", chunks)
	garbled("", "empty coding", "Transfer-Encoding:\n", chunks)
	garbled("", "two codings", "Transfer-Encoding: chunked\nTransfer-Encoding: chunked\n", chunks)
	garbled("", "two codings, one identity", "Transfer-Encoding: chunked\nTransfer-Encoding: identity\n", chunks)
	garbled("", "vertical tab before chunked", "Transfer-Encoding: \x0bchunked\n", chunks)
	garbled("", "Kelvin sign in chunked", "Transfer-Encoding: chun\u212Aed\n", chunks)
	garbled("CVE-2021-22959", "space before colon", "Content-Length : 2\n", "hi")
	garbled("", "tab before colon", "Transfer-Encoding\t: chunked\n", chunks)
	garbled("", "folded length", "Content-Length:\n 2\n", "hi")
	garbled("", "folded line", "A: b\n c\nContent-Length: 2\n", "hi")
	garbled("", "empty name", ": 2\nContent-Length: 2\n", "hi")
	garbled("", "no colon", "Content-Length\n", "hi")
	garbled("", "space in a name", "A B: 1\nContent-Length: 2\n", "hi")
	garbled("", "NUL in a value", "A: \x00\nContent-Length: 2\n", "hi")
	garbled("", "CR in a value", "A: b\rContent-Length: 5\nContent-Length: 2\n", "hi")
	garbled("", "DEL in a value", "A: \x7f\nContent-Length: 2\n", "hi")
	garbled("", "length with underscore", "Content_Length: 2\n", "hi")
	all = append(all,
		answerCase{"coding in http 1.0", "", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks, false, "garbled", "new", "RFC 9112, 6.1"},
		answerCase{"length cut short", "", ok + "Content-Length: 5\r\n\r\nhell", true, "200 cut", "new", ""},
		answerCase{"chunk cut short", "", ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhell", true, "200 cut", "new", ""},
		answerCase{"no last chunk", "", ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nhell\r\n", true, "200 cut", "new", ""},
		answerCase{"no end of trailers", "", ok + "Transfer-Encoding: chunked\r\n\r\n4\r\nhell\r\n0\r\n", true, "200 cut", "new", ""},
	)
	cut("CVE-2025-22871", "bare LF after a size", "2\nhi\r\n0\r\n\r\n")
	cut("CVE-2025-22871", "bare LF after the last size", "2\r\nhi\r\n0\n\r\n")
	cut("Funky chunks, 2025", "bare LF in an extension", "2;a\nb\r\nhi\r\n0\r\n\r\n")
	cut("Funky chunks, 2025", "bare CR in an extension", "2;a\rb\r\nhi\r\n0\r\n\r\n")
	cut("CVE-2025-43859", "two bytes for the end of a chunk", "2\r\nhiXX0\r\n\r\n")
	cut("", "bare LF after a chunk", "2\r\nhi\n0\r\n\r\n")
	cut("", "longer than its size", "1\r\nhi\r\n0\r\n\r\n")
	cut("", "0x in a size", "0x2\r\nhi\r\n0\r\n\r\n")
	cut("", "plus in a size", "+2\r\nhi\r\n0\r\n\r\n")
	cut("", "negative size", "-2\r\nhi\r\n0\r\n\r\n")
	cut("", "blank before a size", " 2\r\nhi\r\n0\r\n\r\n")
	cut("", "blank behind a size", "2 \r\nhi\r\n0\r\n\r\n")
	cut("", "empty size", "\r\n\r\n")
	cut("CVE-2021-32714", "size that overflows", "10000000000000002\r\nhi\r\n0\r\n\r\n")
	cut("", "bare LF ends trailers", "2\r\nhi\r\n0\r\nA: b\r\n\n")
	cut("", "folded trailer", "2\r\nhi\r\n0\r\nA: b\r\n c\r\n\r\n")
	cut("", "an answer for a trailer", "2\r\nhi\r\n0\r\n"+polite)
	all = append(all, answerCase{"trailer with a length is none", "", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nContent-Length: 5\r\n\r\n", false, "200 hi", "kept", "trailers are dropped"})
	return all
}

// lineAnswers: how lines of a head end (RFC 9112, 2.2).
func lineAnswers() []answerCase {
	return []answerCase{
		{"bare LF after the status line", "", "HTTP/1.1 200 OK\nContent-Length: 2\r\n\r\nhi", false, "garbled", "new", "RFC 9112, 2.2"},
		{"bare LF after a field of an answer", "", ok + "Content-Length: 2\n\r\nhi", false, "garbled", "new", "RFC 9112, 2.2"},
		{"bare LF for the empty line of an answer", "", ok + "Content-Length: 2\r\n\nhi", false, "garbled", "new", "RFC 9112, 2.2"},
		{"bare LFs in an answer", "", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", false, "garbled", "new", "RFC 9112, 2.2"},
		{"CR CR LF in an answer", "", ok + "Content-Length: 2\r\r\n\r\nhi", false, "garbled", "new", ""},
		{"folded first line of an answer", "", ok + " A: b\r\nContent-Length: 2\r\n\r\nhi", false, "garbled", "new", ""},
		{"head of an answer that is too long", "", ok + strings.Repeat("A: "+strings.Repeat("b", 1000)+"\r\n", 300) + "\r\n", false, "garbled", "new", ""},
		{"flood of informational answers", "", strings.Repeat("HTTP/1.1 103 Early Hints\r\nX: "+strings.Repeat("x", 8<<10)+"\r\n\r\n", 64) + ok + "Content-Length: 2\r\n\r\nhi", false, "garbled", "new", ""},
		{"flood of short informational answers", "", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 12<<10) + ok + "Content-Length: 2\r\n\r\nhi", false, "garbled", "new", ""},
		{"cut in the status line", "", "HTTP/1.1 20", true, "broken", "new", ""},
		{"cut in a field", "", ok + "Content-", true, "broken", "new", ""},
		{"cut behind an informational answer", "", "HTTP/1.1 103 Early Hints\r\n\r\n", true, "broken", "new", ""},
		{"nothing", "", "", true, "broken", "new", ""},
	}
}

// moreAnswers: what stands behind an answer is for nobody.
func moreAnswers() []answerCase {
	const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
	const source = "response queue poisoning, PortSwigger 2022"
	return []answerCase{
		{"an answer behind a length", "", ok + "Content-Length: 2\r\n\r\nhi" + evil, false, "200 hi", "new", source},
		{"an answer behind length 0", "", ok + "Content-Length: 0\r\n\r\n" + evil, false, "200 ", "new", source},
		{"an answer behind chunks", "", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n" + evil, false, "200 hi", "new", source},
		{"an answer behind 204", "", "HTTP/1.1 204 No Content\r\n\r\n" + evil, false, "204 ", "new", source},
		{"an answer behind 304", "", "HTTP/1.1 304 Not Modified\r\n\r\n" + evil, false, "304 ", "new", source},
		{"body behind 304 with its length", "", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nhi", false, "304 ", "new", source},
		{"body behind HEAD", "HEAD", ok + "Content-Length: 2\r\n\r\nhi", false, "200 ", "new", source},
		{"an answer behind HEAD", "HEAD", ok + "Content-Length: 2\r\n\r\n" + evil, false, "200 ", "new", source},
		{"chunks behind HEAD", "HEAD", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", false, "200 ", "new", source},
		{"one byte behind a length", "", ok + "Content-Length: 2\r\n\r\nhi!", false, "200 hi", "new", source},
		{"empty line behind a length", "", ok + "Content-Length: 2\r\n\r\nhi\r\n", false, "200 hi", "new", source},
		{"empty line behind chunks", "", ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n\r\n", false, "200 hi", "new", source},
		{"408 behind an answer", "", ok + "Content-Length: 2\r\n\r\nhiHTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n", false, "200 hi", "new", ""},
		{"informational answer behind an answer", "", ok + "Content-Length: 2\r\n\r\nhiHTTP/1.1 100 Continue\r\n\r\n", false, "200 hi", "new", ""},
	}
}
