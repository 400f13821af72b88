package probe

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// advise says what berth would need in front, if something is lost.
func (rep *Report) advise(o Options) {
	if rep.Verdict != Lost {
		return
	}
	rep.Command = "berth serve --listen HOST:PORT " + upstreamFlags(o.URL)
	say := func(when bool, sentence string) {
		if when {
			rep.Advice = append(rep.Advice, sentence)
		}
	}
	say(true, "one --upstream for each instance, at its own address instead of the balancer's; its name is to stay when its address changes")
	say(rep.lost(checkTasks, checkSessions, checkStreams, checkEnds) > 0,
		"sessions: nothing to configure; berth binds Mcp-Session-Id to the instance that gave it out")
	say(rep.lost(checkPolls, checkResults, checkCancels, checkLists) > 0,
		"tasks: nothing to configure; berth binds a task's id to the instance whose answer bore it")
	say(rep.lost(checkListened, checkNotified) > 0,
		"subscriptions/listen: nothing to configure; berth passes events on at once")
	say(rep.lost(checkSecond) > 0, "several addresses: one berth behind each, all with the same --store redis://HOST:6379/0")
	say(rep.lost(checkSecond) == 0, "restarts that must not ask the fleet again: --store file:PATH; several berths: --store redis://HOST:6379/0")
	say(rep.leaks(), "principals: [auth] principal = \""+principalOf(o)+"\" in a configuration file; tasks and sessions of others then look like ids that do not exist")
	say(len(rep.Cookies) > 0, "the cookie ("+strings.Join(rep.Cookies, ", ")+") does not help, if it is to keep clients at one instance: MCP clients keep none")
}

// upstreamFlags are two instances, to be filled in, with the path of the URL.
func upstreamFlags(address string) string {
	path := "/mcp"
	if u, err := url.Parse(address); err == nil && u.EscapedPath() != "" {
		path = printable(u.EscapedPath(), longestText)
	}
	return fmt.Sprintf("--upstream a=http://INSTANCE-A:PORT%s --upstream b=http://INSTANCE-B:PORT%s", path, path)
}

// principalOf names the kind of principal that the probe was given, not its value. An
// Authorization header is most likely an access token.
func principalOf(o Options) string {
	kind := "header:NAME"
	for _, header := range o.Principals {
		for _, name := range slices.Sorted(maps.Keys(header)) {
			if name != "Authorization" {
				return "header:" + name
			}
			kind = "jwt"
		}
	}
	return kind
}

func (rep *Report) leaks() bool {
	for i := range rep.Checks {
		if rep.Checks[i].Leaked > 0 {
			return true
		}
	}
	return false
}
