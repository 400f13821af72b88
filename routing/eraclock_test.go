package routing

import (
	"testing"
	"time"

	"berth/internal/mcp"
	"berth/internal/realtest"
)

// That nobody speaks an era is forgotten in its time though the machine's clock was set back.
func TestNobodySpeaksAnEraForAMinuteThoughTheClockWentBack(t *testing.T) {
	p := NewPool(PoolOptions{Name: "p", Upstreams: []*Upstream{{Name: "a"}, {Name: "b"}}})
	defer p.Close()
	all := p.Upstreams()
	if p.Refused(mcp.EraLegacy, all) || p.Refused(mcp.EraLegacy, all[:1]) {
		t.Error("another one is to be tried where all have refused")
	}
	p.began = realtest.SetBack(p.began, -time.Hour)
	if p.Refused(mcp.EraLegacy, all[:1]) {
		t.Error("it is forgotten at once")
	}
	p.nobody[mcp.EraLegacy].Add(-int64(eraMemory)) // a minute ago
	if !p.Refused(mcp.EraLegacy, all[:1]) {
		t.Error("it is not forgotten")
	}
}
