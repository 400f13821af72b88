package explain

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"berth/internal/api"
	"berth/internal/seal"
	"berth/internal/wire"
	"berth/proxy/access"
	"berth/proxy/admission"
	"berth/proxy/course"
	"berth/proxy/inbound"
	"berth/routing"
	"berth/sticky"
	"berth/upgrade"
)

// Explainer is what requests are explained by. It must not change once it is in use.
type Explainer struct {
	Guide    *course.Guide
	Settings *inbound.Settings
	Own      *upgrade.Tasks // of berth's own making; nil: there are none
	Access   *access.Checker
	Keeper   func(*inbound.Call) admission.Keeper // what keeps the task that a call is to become, if it is to become one
}

// Question is a request that is not served: Explain says what would become of it.
type Question struct {
	HTTP   *wire.Request // whole
	Caller *string       // whose it is; nil: as its headers say
	ByID   bool          // it stands for any request about its id, so that its credentials mean nothing
}

// Explain says where the request would go, and why, by the steps that a request takes. Nothing is sent or counted
// for it, nothing changes, and no upstream is asked.
func (x Explainer) Explain(ctx context.Context, q Question) api.Explanation {
	q.HTTP.WithContext(ctx)
	e := &explaining{Explainer: x, r: &course.Routed{Guide: x.Guide, Ctx: ctx, Call: &inbound.Call{HTTP: q.HTTP, Settings: x.Settings}}, byID: q.ByID}
	if err := e.judge(ctx, q); err != nil {
		e.refuse(err)
	}
	e.told.Pool, e.told.Kind = e.r.PoolName(), e.r.About()
	if e.told.Steps == nil {
		e.told.Steps = []api.Step{}
	}
	return e.told
}

// explaining is a request on its way through the questions that the steps of one which is served ask.
type explaining struct {
	Explainer
	r    *course.Routed
	byID bool
	told api.Explanation
}

func (e *explaining) step(what, result, detail string) {
	e.told.Steps = append(e.told.Steps, api.Step{What: what, Result: result, Detail: detail})
}

// judge goes through the steps up to the one that decides. An error is what the request would be refused with.
func (e *explaining) judge(ctx context.Context, q Question) error {
	r, arrival := e.r, inbound.Arrival{Call: e.r.Call}
	if err := e.arrive(arrival, q); err != nil {
		return err
	}
	if r.AsksForResource() {
		e.answer("berth answers with the metadata of its protected resource")
		return nil
	}
	if r.BeforeAuthorization() {
		e.told.Why = "it lies beside the MCP endpoint, and any upstream may answer"
		return e.unbound(routing.Decision{})
	}
	if err := arrival.Understand(); err != nil {
		e.step("message", "refused", "what it says, or what its headers say of that")
		return err
	}
	e.message()
	if err := e.limits(); err != nil {
		return err
	}
	if err := e.rates(ctx); err != nil {
		return err
	}
	by, err := e.Guide.Course(ctx, r.Call, nil)
	if err != nil {
		return err
	}
	e.rule(by)
	switch by {
	case course.OwnTask:
		return e.ownTask(ctx)
	case course.NewTask:
		return e.newTask(ctx)
	case course.Subscription:
		e.told.Why = "a subscription is served by the owners of what it names, and by berth for its own tasks"
		e.told.Answer = api.Answer{Action: "forward", Detail: "a stream at each of them"}
		return nil
	}
	return e.routed(ctx)
}

// arrive is about what stands before the message.
func (e *explaining) arrive(arrival inbound.Arrival, q Question) error {
	if err := arrival.Guard(); err != nil {
		e.step("endpoint", "refused", "")
		return err
	}
	e.step("endpoint", "found", "pool "+e.r.PoolName()+" at "+e.r.Endpoint.Path)
	if err := arrival.CheckMethod(); err != nil {
		return err
	}
	if q.Caller != nil {
		arrival.RecogniseAs(*q.Caller)
	} else if err := arrival.Recognise(); err != nil {
		e.step("caller", "refused", "")
		return err
	}
	if e.r.Principal == "" {
		e.step("caller", "nobody", "")
	} else {
		e.step("caller", "known", "principal "+seal.Digest(e.r.Principal))
	}
	if err := arrival.CheckBody(); err != nil {
		return err
	}
	return arrival.Read(nil, func(int64) error { return nil })
}

// message tells what was understood.
func (e *explaining) message() {
	r := e.r
	said := r.MethodLabel()
	if c := r.Single(); c != nil && c.Name != "" {
		said += " " + strconv.Quote(c.Name)
	}
	if version := r.Version(); version != "" {
		said += ", " + version
	}
	e.step("message", r.Era().String(), said+"; no header contradicts the body")
	if r.Session != "" {
		e.step("session", "named", seal.Digest(r.Session))
	}
	e.told.Plan = r.Row()
}

// limits says what would turn the request away before it is looked at further.
func (e *explaining) limits() error {
	why, err := e.Guide.Gate.Outlook(e.r.Call, e.Keeper)
	if err != nil {
		e.step("limits", "refused", why)
		return err
	}
	e.step("limits", "room", "")
	return nil
}

// rates says which rules about tools would count the request, and whether they have room for it.
func (e *explaining) rates(ctx context.Context) error {
	for _, charge := range e.r.Charges {
		said := fmt.Sprintf("rule %s, %d for each %s", charge.Rule.Limit.Name, charge.Calls, charge.Rule.Per)
		alone, err := e.Guide.Gate.WouldCharge(ctx, e.r.Call, charge)
		if alone {
			said += "; by what this berth alone has counted: the store is away"
		}
		switch later := e.Guide.Tasks.PutsOffCharge(e.r.Call); {
		case err != nil && later:
			e.step("rate", "refused", said+"; not where its Idempotency-Key has its task")
		case err != nil:
			e.step("rate", "refused", said)
			return err
		default:
			e.step("rate", "room", said)
		}
	}
	return nil
}

// rule says which [[upgrade]] rule names the tool, and what comes of it.
func (e *explaining) rule(by course.Course) {
	r := e.r
	rule := e.Guide.Tasks.Rule(r.Call)
	if rule == nil {
		return
	}
	e.told.Rule = strings.Join(rule.Tools, " ")
	switch {
	case by == course.NewTask, e.Guide.Tasks.AsksTask(r.Call):
		e.step("rule", "applies", "")
	case e.Guide.Tasks.Tasks == nil:
		e.step("rule", "not applied", "this berth makes no tasks")
	default:
		e.step("rule", "not applied", "the client does not take tasks: it gets the plain answer")
	}
}

// key tells what is looked up.
func (e *explaining) key(keys []sticky.Key) {
	for _, key := range keys {
		if key.Kind == sticky.Task || key.Kind == sticky.Session {
			e.told.Key = key.Digest()
			return
		}
	}
}

// refuse says what the client would be told of err.
func (e *explaining) refuse(err error) {
	if errors.Is(err, routing.ErrWouldAsk) {
		e.told.Why = "the map does not know the id: the fleet is asked, and the upstream that knows it gets the request"
		if errors.Is(err, routing.ErrOwnerGone) {
			e.told.Why = "the map has an owner that is not in the pool: the fleet is asked, and the upstream that knows the id gets the request"
		}
		refusal := e.r.Word(err)
		e.told.Answer = api.Answer{Action: "ask", Status: refusal.Status, Code: codeOf(refusal), Detail: "if all deny it: " + refusal.Message}
		return
	}
	refusal := e.r.Word(err)
	if refusal == nil {
		return
	}
	if e.told.Why == "" {
		e.told.Why = refusal.Message
	}
	e.told.Answer = api.Answer{Action: "refuse", Status: refusal.Status, Code: codeOf(refusal), Detail: refusal.Message}
}

// answer says that berth answers.
func (e *explaining) answer(why string) {
	e.told.Why = why
	e.told.Answer = api.Answer{Action: "answer", Status: wire.StatusOK}
}
