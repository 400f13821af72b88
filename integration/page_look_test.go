//go:build e2e

package integration

import (
	"os"
	"testing"
)

// TestPageLooks takes pictures of every view.
func TestPageLooks(t *testing.T) {
	if os.Getenv("BERTH_SCREENS") == "" {
		t.Skip()
	}
	browser := openBrowser(t)
	calm := quiet(420)
	views := map[string]string{"maystop": "#/", "instances": "#/instances", "instance": "#/instances/default/a", "tasks": "#/tasks?limit=50", "task": "#/tasks/" + calm.tasks[1].ID, "queues": "#/queues", "berths": "#/berths", "berth": "#/berths/calm-heron", "sessions": "#/sessions", "explain": "#/explain?id=0198c0de-0001", "settings": "#/settings", "troubles": "#/troubles", "trouble": "#/troubles/unknown_ids"}
	for name, d := range map[string]*apiDouble{"calm": calm, "night": quiet(420).troubled(), "empty": quiet(0)} {
		p := openTab(t, browser, d.start(t, ""), "#/")
		for view, hash := range views {
			p.show(hash)
			p.settle()
			p.colours("light")
			p.wantNoScroll()
			p.shoot(name + "-" + view)
			if name == "night" {
				p.colours("dark")
				p.shoot(name + "-" + view + "-dark")
				p.size(390, 844)
				p.wantNoScroll()
				p.shoot(name + "-" + view + "-narrow")
				p.size(1280, 800)
			}
		}
	}
}
