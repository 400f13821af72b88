package h1_test

// hostCases: whom a request is for (RFC 9112, 3.2).
func hostCases() []requestCase {
	const kettle = "PortSwigger, host header attacks"
	host := func(source, name, value string) requestCase {
		return requestCase{"host: " + name, "GET / HTTP/1.1\r\nHost: " + value + "\r\n\r\n" + get, "400", "", source}
	}
	return []requestCase{
		{"no host", "GET / HTTP/1.1\r\n\r\n" + get, "400", "", "RFC 9112, 3.2"},
		head(kettle, "two hosts", "Host: b\n"),
		head(kettle, "two equal hosts", "hOST: a\n"),
		head(kettle, "a host and an empty one", "Host:\n"),
		head(kettle, "host with space before colon", "Host : b\n"),
		head(kettle, "indented host", " Host: b\n"),
		{"two hosts in http 1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n" + get, "400", "", kettle},
		{"host of an absolute form that is missing", "GET http://a/ HTTP/1.1\r\n\r\n" + get, "400", "", "RFC 9112, 3.2"},
		host(kettle, "with a space", "a b"),
		host(kettle, "with a slash", "a/b"),
		host(kettle, "with a NUL", "a\x00b"),
		host(kettle, "with a high byte", "\xff"),
		host("", "with a backslash", "a\\b"),
		host("", "with angle brackets", "<a>"),
		host("", "with a quote", "a\""),
		host("", "with braces", "{a}"),
		host("", "with a question mark", "a?b"),
		host("", "with a number sign", "a#b"),
	}
}

// pathCases: targets (RFC 9112, 3.2), expectations and connections.
func pathCases() []requestCase {
	return []requestCase{
		line("", "user in target", "GET http://u@a/ HTTP/1.1"),
		line("", "empty user in target", "GET http://@a/ HTTP/1.1"),
		line("", "empty authority", "GET http:///x HTTP/1.1"),
		line("", "scheme without authority", "GET a:80 HTTP/1.1"),
		line("", "relative target", "GET x HTTP/1.1"),
		line("", "query alone", "GET ?x HTTP/1.1"),
		line("", "authority alone", "GET a HTTP/1.1"),
		line("", "port that is none", "GET http://a:x/ HTTP/1.1"),
		line("", "asterisk and more", "OPTIONS *x HTTP/1.1"),
		line("", "bad escape in a target", "GET /%zz HTTP/1.1"),
		line("", "half an escape in a target", "GET /%4 HTTP/1.1"),
		line("", "CONNECT to a path with a user", "CONNECT u@a:1 HTTP/1.1"),
		{"CONNECT is a method like others", "CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n" + get, "200 200", "CONNECT //a:1 |GET /next ", ""},
	}
}

// expectCases: expectations that readers understand differently (RFC 9110, 10.1.1), and bodies where few expect one.
func expectCases() []requestCase {
	const desync, te0 = "PortSwigger, HTTP/1.1 must die, 2025", "TE.0, 2024"
	expect := func(name, fields string) requestCase {
		return requestCase{"expectation: " + name, post(fields+"Content-Length: 2\n", "hi") + get, "417", "", desync}
	}
	inside := "1f\r\n" + get + "\r\n0\r\n\r\n"
	return []requestCase{
		expect("a word before", "Expect: y 100-continue\n"),
		expect("a word behind", "Expect: 100-continue x\n"),
		expect("in quotes", "Expect: \"100-continue\"\n"),
		expect("a parameter", "Expect: 100-continue;q=1\n"),
		head(desync, "expectation without a colon", "Expect 100-continue\n"),
		head(desync, "space before the colon of an expectation", "Expect : 100-continue\n"),
		head(desync, "expectation with length and coding", "Expect: 100-continue\nContent-Length: 5\n"+chunked),
		{"expectation: twice in a list", post("Expect: 100-continue, 100-continue\nContent-Length: 2\n", "hi") + get, "200 200", "POST /mcp hi|GET /next ", "RFC 9110, 10.1.1, has a list"},
		{"chunks of OPTIONS", "OPTIONS /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + inside + get, "200 200", "OPTIONS /mcp " + get + "|GET /next ", te0},
		{"chunks of HEAD", "HEAD /mcp HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + inside + get, "200 200", "HEAD /mcp " + get + "|GET /next ", te0},
		{"length of OPTIONS", "OPTIONS /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 32\r\n\r\n" + get + "." + get, "200 200", "OPTIONS /mcp " + get + ".|GET /next ", "CL.0"},
	}
}
