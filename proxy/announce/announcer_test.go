package announce

import (
	"log/slog"
	"testing"

	"berth/internal/mcp/taskwire"
	"berth/internal/wire"
	"berth/upgrade"
)

func TestSupportOfToolIsItsOwnOrItsRules(t *testing.T) {
	rules := upgrade.Rules{{Tools: []string{"must"}, Required: true}, {Tools: []string{"may*"}}}
	a := New("video", rules, slog.New(slog.DiscardHandler), nil)
	for _, tt := range []struct{ name, tool, says, want string }{
		{"a rule insists", "must", "", taskwire.Required},
		{"a rule allows", "may", "", taskwire.Optional},
		{"the default spelt out", "may", taskwire.Forbidden, taskwire.Optional},
		{"the tool's own word", "must", taskwire.Optional, ""},
		{"no rule", "other", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := a.supportOf(tt.tool, tt.says); got != tt.want {
				t.Errorf("supportOf(%q, %q): got %q, want %q", tt.tool, tt.says, got, tt.want)
			}
		})
	}
	if says, known := a.support.of("must"); !known || says != taskwire.Optional {
		t.Errorf("support of a tool that was heard last: got %q, %v, want %q, true", says, known, taskwire.Optional)
	}
}

func TestPoolWithoutRulesAnnouncesNothing(t *testing.T) {
	a := New("video", upgrade.Rules{{Pool: "audio", Tools: []string{"*"}}}, slog.New(slog.DiscardHandler), nil)
	if a != nil {
		t.Fatalf("New: got %v, want nil", a)
	}
	if answer := a.Answer(nil, nil, nil, &wire.Response{Status: wire.StatusOK}); answer.Promised() != "" {
		t.Errorf("Promised: got %q, want none", answer.Promised())
	}
}
