package h1_test

// differences are the rows that net/http takes otherwise, by design, and why.
var differences = map[string]string{
	"CONNECT to an asterisk": "net/http reads an authority of that name",
}
