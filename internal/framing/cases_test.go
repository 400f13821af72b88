package framing

import "strings"

// framingCase is what one client sends over one connection. seen lists the
// requests of which a handler saw the whole, as method, target and body.
type framingCase struct {
	name   string
	raw    string
	reason error  // why the gate refuses, nil if it does not
	status string // of the answers
	seen   string
}

// get is a request that must work wherever it is reached.
const get = "GET /next HTTP/1.1\r\nHost: a\r\n\r\n"

// post returns a POST with fields and a body, all in lines.
func post(fields, body string) string {
	head := "POST /mcp HTTP/1.1\nHost: a\n" + fields + "\n"
	return strings.ReplaceAll(head, "\n", "\r\n") + body
}

// framingCases has get after every refused request: it must be seen by nobody.
func framingCases() []framingCase {
	return append(clean(), refused()...)
}

func clean() []framingCase {
	const chunked = "Transfer-Encoding: chunked\n"
	return []framingCase{
		{"no body", get, nil, "200", "GET /next "},
		{"http 1.0", "GET / HTTP/1.0\r\n\r\n", nil, "200", "GET / "},
		{"asterisk, which net/http answers itself", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", nil, "200", ""},
		{"length", post("Content-Length: 5\n", "hello"), nil, "200", "POST /mcp hello"},
		{"length with blanks and zeros", post("content-LENGTH: \t 005 \t\n", "hello"), nil, "200", "POST /mcp hello"},
		{"no length, so no body", post("", get), nil, "200 200", "POST /mcp |GET /next "},
		{"length then another", post("Content-Length: 5\n", "hello") + get, nil, "200 200", "POST /mcp hello|GET /next "},
		{"chunked", post(chunked, "3\r\nabc\r\n0A\r\n0123456789\r\n0\r\n\r\n"), nil, "200", "POST /mcp abc0123456789"},
		{"chunked in capitals", post("TRANSFER-ENCODING: Chunked\n", "1\r\na\r\n0\r\n\r\n"), nil, "200", "POST /mcp a"},
		{"chunked then another", post(chunked, "3\r\nabc\r\n0\r\n\r\n") + get, nil, "200 200", "POST /mcp abc|GET /next "},
		{"chunk extension", post(chunked, "3;a=\"b\";c\r\nabc\r\n0;d\r\n\r\n") + get, nil, "200 200", "POST /mcp abc|GET /next "},
		{"a request as chunk data", post(chunked, "21\r\n"+get+"..\r\n0\r\n\r\n"), nil, "200", "POST /mcp " + get + ".."},
		{"trailer", post(chunked, "1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n") + get, nil, "200 200", "POST /mcp a|GET /next "},
		{"empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", nil, "200", "GET / "},
		{"absolute form", "GET http://a:1/x HTTP/1.1\r\nHost: a:1\r\n\r\n", nil, "200", "GET http://a:1/x "},
		{"absolute form of another host", "GET http://b/x HTTP/1.1\r\nHost: a\r\n\r\n", nil, "200", "GET http://b/x "},
		{"underscore elsewhere", post("Mcp_Name: x\nContent-Length: 1\n", "a"), nil, "200", "POST /mcp a"},
		{"empty and odd values", post("A:\nB: \xff\t\x80\n", ""), nil, "200", "POST /mcp "},
		{"cut in the head", "GET / HTTP/1.1\r\nHost: a\r\n", nil, "400", ""},
		{"cut in the body", post("Content-Length: 5\n", "hell"), nil, "400", ""},
	}
}

func refused() []framingCase {
	const chunked = "Transfer-Encoding: chunked\n"
	head := func(reason error, name, fields string) framingCase {
		return framingCase{name, post(fields, "0\r\n\r\n") + get, reason, "400", ""}
	}
	line := func(reason error, name, line string) framingCase {
		return framingCase{name, line + "\r\nHost: a\r\n\r\n" + get, reason, "400", ""}
	}
	chunk := func(reason error, name, body string) framingCase {
		return framingCase{name, post(chunked, body) + get, reason, "400", ""}
	}
	return []framingCase{
		// Two framings in one head.
		head(errTwoFramings, "length then coding", "Content-Length: 5\n"+chunked),
		head(errTwoFramings, "coding then length", chunked+"Content-Length: 5\n"),
		// Framing fields and names that readers take in several ways.
		head(errLength, "two lengths", "Content-Length: 5\nContent-Length: 6\n"),
		head(errLength, "two equal lengths", "Content-Length: 5\nContent-Length: 5\n"),
		head(errLength, "two zero lengths", "Content-Length: 0\nContent-Length: 0\n"),
		head(errLength, "length list", "Content-Length: 5, 5\n"),
		head(errLength, "length with plus", "Content-Length: +5\n"),
		head(errLength, "negative length", "Content-Length: -5\n"),
		head(errLength, "hexadecimal length", "Content-Length: 0x5\n"),
		head(errLength, "letters in length", "Content-Length: a\n"),
		head(errLength, "empty length", "Content-Length:\n"),
		head(errLength, "length that overflows", "Content-Length: 18446744073709551621\n"),
		head(errCoding, "xchunked", "Transfer-Encoding: xchunked\n"),
		head(errCoding, "gzip, chunked", "Transfer-Encoding: gzip, chunked\n"),
		head(errCoding, "identity", "Transfer-Encoding: identity\n"),
		head(errCoding, "empty coding", "Transfer-Encoding:\n"),
		head(errCoding, "Kelvin sign in chunked", "Transfer-Encoding: chun\u212Aed\n"),
		head(errCoding, "two codings", chunked+chunked),
		head(errAlias, "length with underscore", "Content_Length: 5\n"),
		head(errAlias, "coding with underscore", "Transfer_Encoding: chunked\n"),
		head(errField, "space before colon", "Content-Length : 5\n"),
		head(errField, "tab before colon", "Transfer-Encoding\t: chunked\n"),
		head(errField, "empty name", ": 5\n"),
		head(errField, "blank name", " : 5\n"),
		head(errField, "no colon", "Content-Length\n"),
		head(errControl, "NUL", "A: b\x00c\n"),
		head(errControl, "CR", "A: b\rContent-Length: 5\n"),
		head(errControl, "DEL", "A: b\x7fc\n"),
		head(errControl, "vertical tab", "Transfer-Encoding: \x0bchunked\n"),
		{"coding in http 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + get, errCoding, "400", ""},
		// Line ends, folded lines and chunks.
		head(errField, "folded line", "A: b\n c: d\n"),
		head(errField, "folded line of blanks", "A: b\n\t\n"),
		{"folded first line", "GET / HTTP/1.1\r\n Host: a\r\n\r\n" + get, errField, "400", ""},
		{"bare LF after the request line", "GET / HTTP/1.1\nHost: a\r\n\r\n" + get, errBareLF, "400", ""},
		{"bare LF after a field", "GET / HTTP/1.1\r\nHost: a\n\r\n" + get, errBareLF, "400", ""},
		{"bare LF for the empty line", "GET / HTTP/1.1\r\nHost: a\r\n\n" + get, errBareLF, "400", ""},
		chunk(errBareLF, "bare LF after chunk size", "1\na\r\n0\r\n\r\n"),
		chunk(errBareLF, "bare LF in chunk extension", "1;a\nb\r\na\r\n0\r\n\r\n"),
		chunk(errControl, "bare CR in chunk extension", "1;a\rb\r\na\r\n0\r\n\r\n"),
		chunk(errControl, "NUL in chunk extension", "1;a\x00\r\na\r\n0\r\n\r\n"),
		chunk(errBareLF, "bare LF after chunk", "1\r\na\n0\r\n\r\n"),
		chunk(errBareLF, "bare LF after trailer", "0\r\nA: b\n\r\n"),
		chunk(errBareLF, "bare LF ends trailers", "0\r\nA: b\r\n\n"),
		chunk(errField, "folded trailer", "0\r\nA: b\r\n c\r\n\r\n"),
		chunk(errChunkSize, "empty chunk size", "\r\n\r\n"),
		chunk(errChunkSize, "extension without size", ";a\r\n\r\n"),
		chunk(errChunkSize, "0x chunk size", "0x1\r\na\r\n0\r\n\r\n"),
		chunk(errChunkSize, "chunk size with plus", "+1\r\na\r\n0\r\n\r\n"),
		chunk(errChunkSize, "blank before chunk size", " 1\r\na\r\n0\r\n\r\n"),
		chunk(errChunkSize, "blank after chunk size", "1 \r\na\r\n0\r\n\r\n"),
		chunk(errChunkSize, "overlong chunk size", "0000000000000001\r\na\r\n0\r\n\r\n"),
		chunk(errChunkSize, "chunk size that overflows", "10000000000000001\r\na\r\n0\r\n\r\n"),
		chunk(errChunkEnd, "chunk longer than its size", "1\r\nab\r\n0\r\n\r\n"),
		chunk(errTrailer, "trailer with length", "0\r\nContent-Length: 5\r\n\r\n"),
		chunk(errTrailer, "trailer with underscored coding", "0\r\nTransfer_Encoding: chunked\r\n\r\n"),
		chunk(errTrailer, "trailer with MCP header", "0\r\nMcp-Name: x\r\n\r\n"),
		chunk(errTrailer, "trailer with underscored MCP header", "0\r\nMCP_NAME: x\r\n\r\n"),
		chunk(errTrailer, "trailer with forwarding header", "0\r\nX-Forwarded-For: x\r\n\r\n"),
		// Whom the request is for.
		{"no host", "GET / HTTP/1.1\r\n\r\n" + get, errHost, "400", ""},
		head(errHost, "two hosts", "Host: b\n"),
		head(errHost, "two equal hosts", "hOST: a\n"),
		line(errTarget, "user in target", "GET http://u@a/ HTTP/1.1"),
		line(errTarget, "empty authority", "GET http:///x HTTP/1.1"),
		line(errTarget, "scheme without authority", "GET a:80 HTTP/1.1"),
		line(errTarget, "relative target", "GET x HTTP/1.1"),
		// The request line.
		line(errRequestLine, "two parts", "GET /"),
		line(errRequestLine, "four parts", "GET / x HTTP/1.1"),
		line(errRequestLine, "two spaces", "GET  / HTTP/1.1"),
		line(errRequestLine, "trailing space", "GET / HTTP/1.1 "),
		line(errRequestLine, "leading space", " GET / HTTP/1.1"),
		line(errRequestLine, "tab for space", "GET\t/ HTTP/1.1"),
		line(errRequestLine, "tab in target", "GET /\tx HTTP/1.1"),
		line(errRequestLine, "NUL in target", "GET /\x00 HTTP/1.1"),
		line(errRequestLine, "Latin-1 blank in target", "GET /\xa0HTTP/1.1 HTTP/1.1"),
		line(errRequestLine, "CR in request line", "GET / HTTP/1.1\rHost: b"),
		line(errRequestLine, "method is no token", "G(T / HTTP/1.1"),
		line(errVersion, "lower case version", "GET / http/1.1"),
		line(errVersion, "version 1.2", "GET / HTTP/1.2"),
		line(errVersion, "version 2.0", "GET / HTTP/2.0"),
		{"preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + get, errVersion, "400", ""},
		{"empty line first", "\r\n" + get, errRequestLine, "400", ""},
		{"empty line after a body", post("Content-Length: 1\n", "a\r\n") + get, errRequestLine, "200 400", "POST /mcp a"},
		{"pipelined before", get + post("Content-Length: 1\n"+chunked, "a") + get, errTwoFramings, "200 400", "GET /next "},
		{"garbage after a body", post("Content-Length: 1\n", "ab\x00\n") + get, errBareLF, "200 400", "POST /mcp a"},
	}
}
