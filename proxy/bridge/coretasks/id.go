package coretasks

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/internal/mcp/inquiry"
	"berth/internal/mcp/taskwire"
	"berth/internal/seal"
	"berth/internal/storage"
	"berth/internal/wire"
	"berth/proxy/bridge/sessions"
	"berth/proxy/fault"
)

// HandOut is the response that hands out the task that a call in a session has become, as message says. id is the request's, raw JSON.
func (s *Server) HandOut(ctx context.Context, who *sessions.Borrower, l *sessions.Session, id, message []byte) (status int, body []byte) {
	v, err := taskwire.ReadCore(taskwire.HandedOut(mcp.ResultObject(message)))
	if err != nil {
		return fault.BadUpstream.Status, fault.BadUpstream.Body(id)
	}
	core := v.ID
	v.Begin(time.Now())
	v.TTL = lifeOf(&v)
	if v.ID, err = s.idOf(ctx, who, l, core, v.TTL); err != nil {
		go s.withdraw(who, l, core)
		worded := fault.Word(err, false)
		return worded.Status, worded.Body(id)
	}
	l.KeepTask(core, time.Now().Add(v.TTL))
	return wire.StatusOK, v.Handle(id)
}

// withdraw has the server give up a task that its client cannot be told of.
func (s *Server) withdraw(who *sessions.Borrower, l *sessions.Session, core string) {
	var err error
	if !s.Support.LacksCancel() {
		_, err = l.Call(context.Background(), who.Out, mcp.MethodCancelTask, map[string]any{"taskId": core})
	}
	s.At.Log.Warn("a task could not be handed out: its id was not stored", "upstream", s.At.Name, "error", err)
}

// unlimited is how long a task lives that its server sets no limit to: what leads to it expires,
// and its session ends some time.
const unlimited = 24 * time.Hour

// lifeOf is how long a task lives from its creation.
func lifeOf(v *taskwire.View) time.Duration {
	if v.TTL == 0 {
		return unlimited
	}
	return v.TTL
}

// taskPurpose is what the ids of tasks are sealed for.
const taskPurpose = "bridged task"

// about is what the id of a task is good for: one caller, at one upstream. It is sealed for the first.
func (s *Server) about(who *sessions.Borrower) [][]string {
	return who.About(s.At.Pool().Name(), s.At.Name)
}

// idOf is a task's id as the client knows it. It leads back to the session, and to what that lets
// its server ask, at any berth. Where it would be longer than ids may be, what it lets ask is packed, which berths up to 0.10.1 do not
// read; and where that is too long as well it is a name by which the store has it.
func (s *Server) idOf(ctx context.Context, who *sessions.Borrower, l *sessions.Session, core string, life time.Duration) (string, error) {
	declared := who.Client.LegacyCapabilities()
	id, err := s.seal(ctx, who, l, declared, core, life)
	if err != nil || len(id) <= s.Longest() {
		return id, err
	}
	short, err := s.seal(ctx, who, l, packed(declared), core, life)
	if err != nil || len(short) <= s.Longest() {
		return short, err
	}
	name := shortTask + rand.Text()
	return name, s.Notes.records.Put(ctx, nameKey(name), []byte(id), life)
}

func (s *Server) seal(ctx context.Context, who *sessions.Borrower, l *sessions.Session, declared []byte, core string, life time.Duration) (string, error) {
	text := binary.AppendUvarint(nil, uint64(l.Place))
	text = appendPart(appendPart(text, []byte(l.ID)), declared)
	return s.Notes.keys().Seal(ctx, taskPurpose, s.about(who)[0], append(text, core...), life)
}

// declarations are the words of which most declarations consist, each with what it is packed as: a byte that no JSON has.
var declarations = []string{
	`"elicitation":{}`, "\x01", `"elicitation":{`, "\x02", `"sampling":{}`, "\x03", `"sampling":{`, "\x04", `"roots":{}`, "\x05", `"roots":{`, "\x06",
	`"form":{}`, "\x07", `"url":{}`, "\x08", `"tools":{}`, "\x0b", `"context":{}`, "\x0c", `"listChanged":true`, "\x0e", `"listChanged":false`, "\x0f",
	`"experimental":{`, "\x10", `"extensions":{`, "\x11", `"io.modelcontextprotocol/ui":{`, "\x12", `"mimeTypes":["text/html;profile=mcp-app"]`, "\x13",
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
func (s *Server) sealedOf(ctx context.Context, id string) (string, error) {
	if !strings.HasPrefix(id, shortTask) {
		return id, nil
	}
	record, err := s.Notes.records.Get(ctx, nameKey(id))
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

// Open returns the task that a client knows under this id, with its session lent until Close. It fails with
// mcp.ErrUnknownTask if that is another's, or none of berth's.
func (s *Server) Open(ctx context.Context, who *sessions.Borrower, id string) (*Task, error) {
	sealed, err := s.sealedOf(ctx, id)
	if err != nil {
		return nil, err
	}
	text, until, err := s.Notes.keys().OpenAny(ctx, taskPurpose, s.about(who), sealed)
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
	l := s.Sessions.Of(s.At, string(session), who.PlacedAs(s.At, string(declared), int(place)))
	return &Task{of: s, who: who, l: l, id: id, core: string(core), declares: inquiry.DeclaredIn(declared), until: until}, nil
}
