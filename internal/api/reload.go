package api

// ReloadPath is where operators have the configuration read anew.
const ReloadPath = "/v1/reload"

// Reloaded is the answer to POST /v1/reload.
type Reloaded struct {
	File    string   `json:"file"`
	Changed []string `json:"changed"` // keys whose new values are in use, or whose files hold others
	Restart []string `json:"restart"` // keys whose new values need a restart
}
