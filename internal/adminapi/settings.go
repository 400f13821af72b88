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
)

// settingRoutes tell by what this berth goes, and set what may be set for a time.
func (a *API) settingRoutes() []admin.Route {
	return []admin.Route{
		{Pattern: "GET /v1/limits", Serve: a.serveLimits},
		{Pattern: "GET /v1/config", Serve: a.serveConfig},
		{Pattern: "GET /v1/log-level", Serve: a.serveLogLevel},
		{Pattern: "PUT /v1/log-level", Serve: a.serveLogOrder},
		{Pattern: "GET /v1/openapi.yaml", Serve: serveOpenAPI},
	}
}

func (a *API) serveLimits(context.Context, *http.Request) (any, error) {
	return api.Limits{Limits: append([]api.Limit{}, a.o.Limits()...)}, nil
}

func (a *API) serveConfig(context.Context, *http.Request) (any, error) { return a.o.Config(), nil }

func (a *API) serveLogLevel(context.Context, *http.Request) (any, error) {
	now, configured, until := a.o.Level.Told()
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

func (a *API) serveLogOrder(ctx context.Context, r *http.Request) (any, error) {
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
	a.o.Level.Set(levels[at], time.Duration(order.For)*time.Second)
	a.o.Log.Info("another level is logged for a time", "level", order.Level, "seconds", order.For)
	return a.serveLogLevel(ctx, r)
}

func serveOpenAPI(context.Context, *http.Request) (any, error) {
	return admin.File{Type: "application/yaml", Body: api.OpenAPI}, nil
}
