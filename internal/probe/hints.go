package probe

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"

	"berth/internal/client"
	"berth/internal/mcp"
)

// mostHints bounds what is kept of what answers say of themselves.
const mostHints = 20

// hints are what answers tell of who is behind the URL, without being asked.
type hints struct {
	names   map[string]bool // of servers
	cookies map[string]bool // names of cookies that are set
	via     map[string]bool // values of Via
}

func (h *hints) learn(a *client.Answer) {
	response := http.Response{Header: a.Header}
	for _, cookie := range response.Cookies() {
		add(&h.cookies, printable(cookie.Name, 40))
	}
	for _, via := range a.Header.Values("Via") {
		add(&h.via, printable(via, 60))
	}
	var said struct {
		ServerInfo serverInfo `json:"serverInfo"`
		Meta       struct {
			ServerInfo serverInfo `json:"io.modelcontextprotocol/serverInfo"`
		} `json:"_meta"`
	}
	if a.Result == nil || json.Unmarshal(a.Result, &said) != nil {
		return
	}
	for _, info := range []serverInfo{said.ServerInfo, said.Meta.ServerInfo} {
		if info.Name != "" && info.Name != mcp.OwnName {
			add(&h.names, printable(info.Name, 40))
		}
	}
}

type serverInfo struct {
	Name string `json:"name"`
}

func add(set *map[string]bool, value string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	if len(*set) < mostHints {
		(*set)[value] = true
	}
}

func sorted(set map[string]bool) []string { return some(slices.Sorted(maps.Keys(set))) }
