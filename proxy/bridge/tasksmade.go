package bridge

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/bridge/sessions"
	"berth/proxy/fault"
)

// asTask returns the body of a call as it is sent: as one that becomes a task where its tool takes
// part in tasks and its client knows the extension.
func (c *call) asTask(l *sessions.Session, body []byte) ([]byte, error) {
	if c.Method != mcp.MethodCallTool || !mcp.HasCoreTasks(l.Result) {
		return body, nil
	}
	c.f.mu.Lock()
	support := c.f.supports[c.Name]
	c.f.mu.Unlock()
	switch {
	case support != mcp.TaskRequired && support != mcp.TaskOptional:
		return body, nil
	case c.DeclaresTasks:
		c.tasks = l
		return mcp.AsTask(body)
	case support == mcp.TaskRequired:
		return nil, mcp.ErrMissingTasks
	}
	return body, nil
}

// handOut is the response that hands out the task that the call has become.
func (c *call) handOut(ctx context.Context, message []byte) (status int, body []byte) {
	v, err := mcp.ReadCoreTask(mcp.HandedOut(mcp.ResultObject(message)))
	if err != nil {
		return errUnusable.Status, errUnusable.Body(c.id)
	}
	core := v.ID
	v.Begin(time.Now())
	v.TTL = lifeOf(&v)
	if v.ID, err = c.idOf(ctx, core, v.TTL); err != nil {
		go c.withdraw(core)
		worded := fault.Word(err, false)
		return worded.Status, worded.Body(c.id)
	}
	c.tasks.KeepTask(core, time.Now().Add(v.TTL))
	return wire.StatusOK, v.Handle(c.id)
}

// withdraw has the server give up a task that its client cannot be told of.
func (c *call) withdraw(core string) {
	var err error
	if !c.f.lacksCancel() {
		_, err = c.tasks.Call(context.Background(), c.who.Out, mcp.MethodCancelTask, map[string]any{"taskId": core})
	}
	c.f.u.Log.Warn("a task could not be handed out: its id was not stored", "upstream", c.f.u.Name, "error", err)
}

// unlimited is how long a task lives that its server sets no limit to: what leads to it expires,
// and its session ends some time.
const unlimited = 24 * time.Hour

// lifeOf is how long a task lives from its creation.
func lifeOf(v *mcp.TaskView) time.Duration {
	if v.TTL == 0 {
		return unlimited
	}
	return v.TTL
}

// taskPurpose is what the ids of tasks are sealed for.
const taskPurpose = "bridged task"

// aboutTasks is what the id of a task is good for: one caller, at one upstream.
func (c *call) aboutTasks() []string { return []string{c.f.u.Pool().Name(), c.f.u.Name, c.who.Caller} }

// idOf is a task's id as the client knows it. It leads back to the session, and to what that lets
// its server ask, at any berth. Where it would be longer than ids may be, what it lets ask is packed, which berths up to 0.10.1 do not
// read; and where that is too long as well it is a name by which the store has it.
func (c *call) idOf(ctx context.Context, core string, life time.Duration) (string, error) {
	declared := c.who.Client.AsksClient()
	id, err := c.sealTask(ctx, declared, core, life)
	if err != nil || len(id) <= c.f.b.options().TaskID {
		return id, err
	}
	short, err := c.sealTask(ctx, packed(declared), core, life)
	if err != nil || len(short) <= c.f.b.options().TaskID {
		return short, err
	}
	name := shortTask + rand.Text()
	return name, c.f.b.records.Put(ctx, nameKey(name), []byte(id), life)
}

func (c *call) sealTask(ctx context.Context, declared []byte, core string, life time.Duration) (string, error) {
	text := binary.AppendUvarint(nil, uint64(c.tasks.Place))
	text = appendPart(appendPart(text, []byte(c.tasks.ID)), declared)
	return c.f.b.options().Keys.Seal(ctx, taskPurpose, c.aboutTasks(), append(text, core...), life)
}

// declarations are the words of which most declarations consist, each with what it is packed as: a byte that no JSON has.
var declarations = []string{
	`"elicitation":{}`, "\x01", `"elicitation":{`, "\x02", `"sampling":{}`, "\x03", `"sampling":{`, "\x04", `"roots":{}`, "\x05", `"roots":{`, "\x06",
	`"form":{}`, "\x07", `"url":{}`, "\x08", `"tools":{}`, "\x0b", `"context":{}`, "\x0c", `"listChanged":true`, "\x0e", `"listChanged":false`, "\x0f",
}

var (
	toPack   = strings.NewReplacer(declarations...)
	toUnpack = strings.NewReplacer(backwards(declarations)...)
)

func backwards(words []string) []string {
	words = slices.Clone(words)
	slices.Reverse(words)
	return words
}

// packed is a declaration in fewer bytes, so that the id of a task stands for itself: what the store has for it a flush would take.
func packed(declared []byte) []byte { return []byte(toPack.Replace(string(declared))) }

// unpacked undoes packed; a declaration that is not packed stays as it is.
func unpacked(declared []byte) []byte { return []byte(toUnpack.Replace(string(declared))) }

// shortTask begins ids that stand for longer ones.
const shortTask = "task."

func nameKey(name string) string { return "bridge:" + name }

// sealedOf returns what an id stands for.
func (c *call) sealedOf(ctx context.Context, id string) (string, error) {
	if !strings.HasPrefix(id, shortTask) {
		return id, nil
	}
	record, err := c.f.b.records.Get(ctx, nameKey(id))
	if errors.Is(err, storage.ErrNotFound) {
		return "", mcp.ErrUnknownTask
	}
	return string(record.Value), err
}

func appendPart(to, part []byte) []byte {
	return append(binary.AppendUvarint(to, uint64(len(part))), part...)
}

func cutPart(text []byte) (part, rest []byte, ok bool) {
	size, n := binary.Uvarint(text)
	if n <= 0 || size > uint64(len(text)-n) {
		return nil, nil, false
	}
	return text[n : n+int(size)], text[n+int(size):], true
}

// openTask returns the task that a client knows under this id, with its session lent. It fails with
// mcp.ErrUnknownTask if that is another's, or none of berth's.
func (c *call) openTask(ctx context.Context, id string) (*task, error) {
	sealed, err := c.sealedOf(ctx, id)
	if err != nil {
		return nil, err
	}
	text, until, err := c.f.b.options().Keys.OpenUntil(ctx, taskPurpose, c.aboutTasks(), sealed)
	if errors.Is(err, seal.ErrInvalid) {
		return nil, mcp.ErrUnknownTask
	}
	if err != nil {
		return nil, err
	}
	place, n := binary.Uvarint(text)
	session, rest, _ := cutPart(text[max(n, 0):])
	declared, core, ok := cutPart(rest)
	if !ok {
		return nil, mcp.ErrUnknownTask
	}
	declared = unpacked(declared)
	l := c.f.sessions.Of(c.f.u, string(session), c.who.PlacedAs(c.f.u, string(declared), int(place)))
	return &task{c: c, l: l, id: id, core: string(core), declares: mcp.DeclaredIn(declared), until: until}, nil
}
