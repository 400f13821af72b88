package h1_test

// differences are the rows that net/http takes otherwise, and why: those of requests behind package framing, those of answers by its own client.
var differences = map[string]string{
	"bare LF after a field of an answer":                             "net/http takes a bare line feed for a line's end (RFC 9112, 2.2 lets it)",
	"bare LF after the status line":                                  "net/http takes a bare line feed for a line's end (RFC 9112, 2.2 lets it)",
	"bare LF for the empty line of an answer":                        "net/http takes a bare line feed for a line's end (RFC 9112, 2.2 lets it)",
	"bare LFs in an answer":                                          "net/http takes a bare line feed for a line's end (RFC 9112, 2.2 lets it)",
	"chunks: blank behind a size":                                    "net/http trims a size",
	"chunks: folded trailer":                                         "net/http joins folded lines",
	"coding in http 1.0":                                             "net/http overlooks the coding and reads until the connection closes",
	"expectation: a word before":                                     "net/http looks for the word anywhere among blanks",
	"expectation: a word behind":                                     "net/http looks for the word anywhere among blanks",
	"framing: coding and length":                                     "net/http lets the coding win (RFC 9112, 6.3)",
	"framing: folded length":                                         "net/http joins folded lines",
	"framing: folded line":                                           "net/http joins folded lines",
	"framing: length and coding":                                     "net/http lets the coding win (RFC 9112, 6.3)",
	"framing: length with underscore":                                "net/http knows no such name: it reads until the connection closes",
	"framing: space before colon":                                    "net/http keeps such a name as it is",
	"framing: space in a name":                                       "net/http keeps such a name as it is",
	"framing: two equal lengths":                                     "net/http merges equal lengths (RFC 9112, 6.3)",
	`status line "HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n"`:     "net/http takes any version of one digit each",
	`status line "HTTP/1.1  200 Two blanks\r\nContent-Length: 0\r"`:  "net/http trims blanks before the status",
	`status line "HTTP/1.1 200 O\rK\r\nContent-Length: 0\r\n\r\n"`:   "net/http does not look into phrases",
	`status line "HTTP/1.1 200 O\x00K\r\nContent-Length: 0\r\n\r\n"`: "net/http does not look into phrases",
	`status line "HTTP/1.2 200 OK\r\nContent-Length: 0\r\n\r\n"`:     "net/http takes any version of one digit each",
	`status line "HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n"`:     "net/http takes any version of one digit each",
}
