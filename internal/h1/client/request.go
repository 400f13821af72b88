package client

import (
	"cmp"
	"slices"
	"strconv"

	"berth/internal/exchange"
	"berth/internal/h1/grammar"
	"berth/internal/wire"

	"golang.org/x/net/http/httpguts"
)

// appendHead appends the head of a request to b, in the words that net/http finds for it; o is how the one before began. keep: it does
// not ask for the connection's end.
func appendHead(b []byte, r *exchange.Request, o *opening) (head []byte, keep bool, err error) {
	method := cmp.Or(r.Method, wire.MethodGet)
	if b, err = o.append(b, method, r.URL, cmp.Or(r.Host, r.URL.Host)); err != nil {
		return nil, false, err
	}
	if len(r.Body) > 0 || usuallyHasBody(method) { // lines are ended by what follows
		b = strconv.AppendInt(append(b, "\r\nContent-Length: "...), int64(len(r.Body)), 10)
	}
	if b, keep, err = appendFields(b, r.Header); err != nil {
		return nil, false, err
	}
	return append(b, "\r\n\r\n"...), keep, nil
}

func usuallyHasBody(method string) bool {
	return method == wire.MethodPost || method == "PUT" || method == "PATCH"
}

// appendFields appends header fields, each behind a line's end. Those that say where the request ends are not a caller's. keep: none asks for the
// connection's end.
func appendFields(b []byte, h *wire.Header) (_ []byte, keep bool, err error) {
	named := slices.Contains(h.Withheld(), "User-Agent")
	keep = true
	fields := h.Fields()
	for i := range fields {
		f := &fields[i]
		if begins := asTheyAre[f.Usual]; f.Judged && begins != "" {
			b = append(append(b, begins...), f.Value...)
			continue
		}
		switch f.Name {
		case "Host", "Content-Length", "Transfer-Encoding", "Trailer":
			continue
		case "User-Agent": // the first one counts
			isFirst := !named
			if named = true; !isFirst || f.Value == "" {
				continue
			}
		case "Connection":
			keep = keep && !httpguts.HeaderValuesContainsToken([]string{f.Value}, "close")
		}
		value := f.Value
		if !f.Judged {
			if value, err = judge(f); err != nil {
				return nil, false, err
			}
		}
		b = append(append(append(append(b, "\r\n"...), f.Name...), ": "...), value...)
	}
	if !named {
		b = append(b, "\r\nUser-Agent: Go-http-client/1.1"...)
	}
	return b, keep, nil
}

// asTheyAre is what stands before the value of a field with which appendFields has nothing to do but to append it; "": it may have.
var asTheyAre = func() (table [256]string) {
	for number, name := range wire.UsualNames() {
		switch name {
		case "Host", "Content-Length", "Transfer-Encoding", "Trailer", "User-Agent", "Connection":
		default:
			table[number] = "\r\n" + name + ": "
		}
	}
	return table
}()

// judge returns the value of a field as it may be written.
func judge(f *wire.Field) (value string, err error) {
	switch {
	case f.Usual == 0 && !grammar.IsToken(f.Name):
		return "", unfit("header", f.Name)
	case !grammar.IsText(f.Value):
		return "", unfit("value of header", f.Name)
	}
	return wire.Trim(f.Value), nil
}
