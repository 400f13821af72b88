package task

import "testing"

func TestTheFirstRuleThatMatchesCounts(t *testing.T) {
	rules := Rules{
		{Pool: "video", Tools: []string{"generate_*"}},
		{Tools: []string{"slow", "generate_*"}},
		{Pool: "video", Tools: []string{"*"}},
	}
	for _, tt := range []struct {
		pool, tool string
		want       *Rule
	}{
		{"video", "generate_film", &rules[0]},
		{"audio", "generate_film", &rules[1]},
		{"video", "slow", &rules[1]},
		{"video", "greet", &rules[2]},
		{"audio", "greet", nil},
	} {
		if got := rules.For(tt.pool, tt.tool); got != tt.want {
			t.Errorf("%s, %s: got %+v, want %+v", tt.pool, tt.tool, got, tt.want)
		}
	}
}

func TestRulesKnowTheirPools(t *testing.T) {
	video := Rule{Pool: "video", Tools: []string{"*"}}
	for _, tt := range []struct {
		name  string
		rules Rules
		want  bool
	}{
		{"none", nil, false},
		{"for another pool", Rules{{Pool: "audio", Tools: []string{"*"}}}, false},
		{"for this pool", Rules{{Pool: "audio", Tools: []string{"*"}}, video}, true},
		{"for every pool", Rules{{Tools: []string{"slow"}}}, true},
		{"for no tool", Rules{{}}, false},
	} {
		if got := tt.rules.In("video"); got != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, got, tt.want)
		}
	}
}
