package admin

import (
	"context"
	"log/slog"
	"strings"
)

// complaints are what package net/http logs.
type complaints struct{ log *slog.Logger }

// Write implements io.Writer: one complaint.
func (c complaints) Write(p []byte) (int, error) {
	text, level := strings.TrimSpace(string(p)), slog.LevelWarn
	if strings.HasPrefix(text, "http: TLS handshake error") || strings.HasPrefix(text, "http: Accept error") { // the listener tells of the latter, once
		level = slog.LevelDebug
	}
	c.log.Log(context.Background(), level, text)
	return len(p), nil
}
