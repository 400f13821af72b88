package mcp

import "encoding/json"

// SupportedVersions returns the protocol versions that an error response names as those that
// its server speaks (2026-07-28, UnsupportedProtocolVersionError); none if it names none.
func SupportedVersions(message []byte) []string {
	var m struct {
		Error struct {
			Data struct {
				Supported []string `json:"supported"`
			} `json:"data"`
		} `json:"error"`
	}
	if json.Unmarshal(message, &m) != nil {
		return nil
	}
	return m.Error.Data.Supported
}
