package adminapi

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"berth/internal/admin"
	"berth/internal/api"
	"berth/internal/journal"
)

// settings tell by what this berth goes, and set what may be set for a time.
type settings struct {
	limits func() []api.Limit
	config func() api.Config
	level  *journal.Level
	log    *slog.Logger
}

func (s *settings) routes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET /v1/limits", Serve: s.serveLimits},
		{Pattern: "GET /v1/config", Serve: s.serveConfig},
		{Pattern: "GET /v1/log-level", Serve: s.serveLogLevel},
		{Pattern: "PUT /v1/log-level", Serve: s.serveLogOrder},
		{Pattern: "GET /v1/openapi.yaml", Serve: serveOpenAPI},
	}
}

func (s *settings) serveLimits(context.Context, *http.Request) (any, error) {
	return api.Limits{Limits: append([]api.Limit{}, s.limits()...)}, nil
}

func (s *settings) serveConfig(context.Context, *http.Request) (any, error) { return s.config(), nil }

func (s *settings) serveLogLevel(context.Context, *http.Request) (any, error) {
	now, configured, until := s.level.Told()
	told := api.LogLevel{Level: nameOf(now), Configured: nameOf(configured)}
	if !until.IsZero() {
		told.Until = until.UTC()
	}
	return told, nil
}

var levels = []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError}

func nameOf(level slog.Level) string { return strings.ToLower(level.String()) }

// Bounds of the time for which another level is logged, in seconds.
const (
	usualTime   = 300
	longestTime = 3600
)

func (s *settings) serveLogOrder(ctx context.Context, r *http.Request) (any, error) {
	order := api.LogOrder{For: usualTime}
	if err := read(r, &order); err != nil {
		return nil, err
	}
	at := slices.IndexFunc(levels, func(l slog.Level) bool { return nameOf(l) == order.Level })
	switch {
	case at < 0:
		return nil, badRequest("level must be debug, info, warn or error")
	case order.For < 1 || order.For > longestTime:
		return nil, badRequest(fmt.Sprintf("for must be from 1 to %d seconds", longestTime))
	}
	s.level.Set(levels[at], time.Duration(order.For)*time.Second)
	s.tell(ctx, order)
	return s.serveLogLevel(ctx, r)
}

// tell logs what was ordered, whichever level is logged: else nobody could see why the log falls silent.
func (s *settings) tell(ctx context.Context, order api.LogOrder) {
	line := slog.NewRecord(time.Now(), slog.LevelInfo, "another level is logged for a time", 0)
	line.Add("to", order.Level, "seconds", order.For)
	_ = s.log.Handler().Handle(ctx, line)
}

func serveOpenAPI(context.Context, *http.Request) (any, error) {
	return admin.File{Type: "application/yaml", Body: api.OpenAPI}, nil
}
