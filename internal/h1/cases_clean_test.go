package h1_test

import "strings"

// clean are requests without doubt: what is strict must not become deaf.
func clean() []requestCase {
	ok := func(name, raw, status, seen string) requestCase { return requestCase{name, raw, status, seen, ""} }
	return []requestCase{
		ok("no body", get, "200", "GET /next "),
		ok("http 1.0", "GET / HTTP/1.0\r\n\r\n", "200", "GET / "),
		ok("http 1.0 that stays", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"+get, "200 200", "GET / |GET /next "),
		ok("http 1.0 with a length", "POST / HTTP/1.0\r\nContent-Length: 2\r\n\r\nhi"+get, "200", "POST / hi"),
		ok("asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", "200", "OPTIONS * "),
		ok("length", post("Content-Length: 5\n", "hello"), "200", "POST /mcp hello"),
		ok("length with blanks and zeros", post("content-LENGTH: \t 005 \t\n", "hello"), "200", "POST /mcp hello"),
		ok("length 0", post("Content-Length: 0\n", get), "200 200", "POST /mcp |GET /next "),
		ok("no length, so no body", post("", get), "200 200", "POST /mcp |GET /next "),
		ok("length then another", post("Content-Length: 5\n", "hello")+get, "200 200", "POST /mcp hello|GET /next "),
		ok("body of a GET", "GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi"+get, "200 200", "GET / hi|GET /next "),
		ok("body of a DELETE in chunks", "DELETE / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"+get, "200 200", "DELETE / hi|GET /next "),
		ok("HEAD then another", "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"+get, "200 200", "HEAD / |GET /next "),
		ok("close, then another that nobody reads", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"+get, "200", "GET / "),
		ok("close in a list", "GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n"+get, "200", "GET / "),
		ok("close behind a blank", "GET / HTTP/1.1\r\nHost: a\r\nConnection: 0 Close\r\n\r\n"+get, "200", "GET / "),
		ok("chunked", post(chunked, "3\r\nabc\r\n0A\r\n0123456789\r\n0\r\n\r\n"), "200", "POST /mcp abc0123456789"),
		ok("chunked in capitals", post("TRANSFER-ENCODING: Chunked\n", "1\r\na\r\n0\r\n\r\n"), "200", "POST /mcp a"),
		ok("chunked then another", post(chunked, "3\r\nabc\r\n0\r\n\r\n")+get, "200 200", "POST /mcp abc|GET /next "),
		ok("chunk extension", post(chunked, "3;a=\"b\";c\r\nabc\r\n0;d\r\n\r\n")+get, "200 200", "POST /mcp abc|GET /next "),
		ok("last chunk of several zeros", post(chunked, "1\r\na\r\n000\r\n\r\n")+get, "200 200", "POST /mcp a|GET /next "),
		ok("a request as chunk data", post(chunked, "21\r\n"+get+"..\r\n0\r\n\r\n"), "200", "POST /mcp "+get+".."),
		ok("a last chunk as chunk data", post(chunked, "5\r\n0\r\n\r\n\r\n0\r\n\r\n")+get, "200 200", "POST /mcp 0\r\n\r\n|GET /next "),
		ok("trailer", post(chunked, "1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n")+get, "200 200", "POST /mcp a|GET /next "),
		ok("empty host", "GET / HTTP/1.1\r\nHost:\r\n\r\n", "200", "GET / "),
		ok("host with a port", "GET / HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "200", "GET / "),
		ok("absolute form", "GET http://a:1/x HTTP/1.1\r\nHost: a:1\r\n\r\n", "200", "GET http://a:1/x "),
		ok("absolute form of another host", "GET http://b/x HTTP/1.1\r\nHost: a\r\n\r\n", "200", "GET http://b/x "),
		ok("underscore elsewhere", post("Mcp_Name: x\nContent-Length: 1\n", "a"), "200", "POST /mcp a"),
		ok("empty and odd values", post("A:\nB: \xff\t\x80\n", ""), "200", "POST /mcp "),
		ok("odd names", post("!#$%&'*+.^_`|~09aZ: 1\n", ""), "200", "POST /mcp "),
		ok("unknown method", "FROB-1 / HTTP/1.1\r\nHost: a\r\n\r\n", "200", "FROB-1 / "),
		ok("upgrade to h2c is not heard", "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"+get, "200 200", "GET / |GET /next "),
		ok("upgrade to websocket is not heard", "GET / HTTP/1.1\r\nHost: a\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n"+get, "200 200", "GET / |GET /next "),
		ok("expectation", post("Expect: 100-continue\nContent-Length: 2\n", "hi")+get, "200 200", "POST /mcp hi|GET /next "),
		ok("expectation without a body", "GET / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\n\r\n"+get, "200 200", "GET / |GET /next "),
		ok("twenty at once", strings.Repeat(get, 20), strings.TrimSpace(strings.Repeat("200 ", 20)), strings.TrimSuffix(strings.Repeat("GET /next |", 20), "|")),
		ok("cut in the head", "GET / HTTP/1.1\r\nHost: a\r\n", "400", ""),
		ok("cut in the body", post("Content-Length: 5\n", "hell"), "400", ""),
		ok("cut in a chunk", post(chunked, "5\r\nhell"), "400", ""),
		ok("cut before the last chunk", post(chunked, "4\r\nhell\r\n"), "400", ""),
		ok("cut before the end of trailers", post(chunked, "4\r\nhell\r\n0\r\n"), "400", ""),
		ok("nothing at all", "", "", ""),
	}
}
