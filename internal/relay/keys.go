package relay

import (
	"fmt"
	"strconv"
	"strings"
)

// sinceKey is since when the store has kept what it holds, by its clock.
const sinceKey = "relay:since"

func leaseKey(name string) string     { return "relay:lease:" + name }
func inboxKey(name string) string     { return "relay:inbox:" + name }
func recordKey(id string) string      { return "relay:exchange:" + id }
func requestKey(id string) string     { return "relay:request:" + id }
func readKey(id string) string        { return "relay:read:" + id }
func partKey(id string, n int) string { return "relay:part:" + id + ":" + strconv.Itoa(n) }
func topicOf(name string) string      { return "relay:" + name }

// notice is what one berth tells another about an exchange. Who offers or closes one also puts the
// notice into the other's inbox, a list: there it is found if it was not heard.
type notice struct {
	kind noticeKind
	id   string // of the exchange
	from string // of offered: who passes it on
	n    int    // of the others: how many parts were written, or read
}

type noticeKind string

const (
	offered noticeKind = "offered" // a request can be taken
	closed  noticeKind = "closed"  // the answer is not read any more
	written noticeKind = "written" // so many parts of an answer are there
	read    noticeKind = "read"    // so many were read
)

func (n notice) String() string {
	if n.kind == offered {
		return fmt.Sprintf("%s %s %s", n.kind, n.id, n.from)
	}
	return fmt.Sprintf("%s %s %d", n.kind, n.id, n.n)
}

// parseNotice reports false for what a newer berth may say.
func parseNotice(text string) (n notice, ok bool) {
	kind, rest, _ := strings.Cut(text, " ")
	id, about, ok := strings.Cut(rest, " ")
	n = notice{kind: noticeKind(kind), id: id}
	if n.kind == offered {
		n.from = about
		return n, ok
	}
	count, err := strconv.Atoi(about)
	n.n = count
	return n, ok && err == nil
}
