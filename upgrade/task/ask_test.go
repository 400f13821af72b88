package task

import (
	"errors"
	"testing"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
)

// An answer that does not fit is the client's to mend: the upstream would end the task over it.
func TestAnswersFitWhatIsAsked(t *testing.T) {
	t.Parallel()
	const elicit, sample, roots, other = `{"method":"elicitation/create"}`, `{"method":"sampling/createMessage"}`, `{"method":"roots/list"}`, `{"method":"x/ask"}`
	for _, c := range []struct {
		request, value string
		fits           bool
	}{
		{elicit, `{"action":"accept","content":{}}`, true},
		{elicit, `{}`, false},
		{elicit, `{"action":"bogus"}`, false},
		{sample, `{"role":"assistant","content":{}}`, true},
		{sample, `{"foo":1}`, false},
		{roots, `{"roots":[]}`, true},
		{roots, `{"foo":1}`, false},
		{other, `{"foo":1}`, true},
		{other, `null`, false},
	} {
		asks := Task{State: InputRequired, Asks: []Ask{{Key: "k", Request: []byte(c.request)}}}
		err := asks.CheckAnswers([]inquiry.Input{{Key: "k", Value: []byte(c.value)}, {Key: "another", Value: []byte("1")}})
		refused, ok := errors.AsType[*mcp.Error](err)
		if c.fits != (err == nil) || ok && refused.Code != mcp.CodeInvalidParams {
			t.Errorf("%s to %s: got %v", c.value, c.request, err)
		}
	}
}
