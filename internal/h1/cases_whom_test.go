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
