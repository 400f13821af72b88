package polls

import (
	"encoding/binary"
	"hash/maphash"
	"strings"
	"time"

	"berth/internal/mcp"
	"berth/proxy/inbound"
	"berth/sticky"
)

// staleKey says of which task, and who may be told of it.
type staleKey struct {
	task       sticky.Key
	credential digest // zero where the task's key says whose it is
}

// keyFor is the same for a principal with a fresh token; of nobody only equal credentials are.
func keyFor(c *inbound.Call, task *sticky.Key) staleKey {
	if c.Principal != "" {
		return staleKey{task: *task}
	}
	return staleKey{*task, c.CredentialSum()}
}

// hash is that of k by the one of the task.
func (k *staleKey) hash(task uint64) uint32 {
	return uint32(task ^ binary.NativeEndian.Uint64(k.credential[:]))
}

// staleTask is what is kept of one task. A poll that tells what was told before looks at this, and at how its text begins: each place
// more in memory is one that nobody has looked at for long.
type staleTask struct {
	text                      string // of the task's key; results of tasks/get and of tasks/result, which only an ended task has
	pool, principal, id, poll uint32 // where each ends in text
	ended                     bool   // poll tells of a terminal state
	sum                       uint64 // hash of poll
	credential                digest
	at                        moment // when poll was told
	since                     moment // when the task was first seen
	expires                   moment // nothing is told again after it
}

// moment is a time by the monotonic clock, since the cache was made.
type moment = time.Duration

// staleOverhead is about what a task costs beside what is kept of it, in bytes.
const staleOverhead = 512

func (t *staleTask) size() int { return t.held() + staleOverhead }

// held is how many bytes are kept of the task.
func (t *staleTask) held() int { return len(t.text) - int(t.id) }

func (t *staleTask) is(k *staleKey) bool { return t.isOf(&k.task) && t.credential == k.credential }

// isOf reports whether it is that task, whoever may be told of it.
func (t *staleTask) isOf(task *sticky.Key) bool {
	return t.text[t.principal:t.id] == task.ID && t.text[t.pool:t.principal] == task.Principal && t.text[:t.pool] == task.Pool
}

// result is that of tasks/get, "" for none.
func (t *staleTask) result() string { return t.text[t.id:t.poll] }

// outcome is the result of tasks/result, "" for none.
func (t *staleTask) outcome() string { return t.text[t.poll:] }

func (t *staleTask) keepResult(k *staleKey, result []byte) {
	var text strings.Builder
	k.begin(&text, len(result)+len(t.outcome()))
	text.Write(result)
	text.WriteString(t.outcome())
	t.keep(k, text.String(), len(result))
}

func (t *staleTask) keepOutcome(k *staleKey, outcome []byte) {
	var text strings.Builder
	k.begin(&text, len(t.result())+len(outcome))
	text.WriteString(t.result())
	text.Write(outcome)
	t.keep(k, text.String(), len(t.result()))
}

// begin begins a text of k, with which so many bytes are kept.
func (k *staleKey) begin(text *strings.Builder, held int) {
	text.Grow(len(k.task.Pool) + len(k.task.Principal) + len(k.task.ID) + held)
	text.WriteString(k.task.Pool)
	text.WriteString(k.task.Principal)
	text.WriteString(k.task.ID)
}

// keep keeps a text of k, in which the result of tasks/get has so many bytes.
func (t *staleTask) keep(k *staleKey, text string, result int) {
	t.text = text
	t.pool = uint32(len(k.task.Pool))
	t.principal = t.pool + uint32(len(k.task.Principal))
	t.id = t.principal + uint32(len(k.task.ID))
	t.poll = t.id + uint32(result)
}

// tell adds what an answer tells. An end stands: polls may overtake one another, so that one from
// before the end comes in after it.
func (t *staleTask) tell(k *staleKey, a *mcp.Answer, now moment) {
	var room [512]byte // stays on the stack
	result := a.PollResult(room[:0])
	if sum := maphash.Bytes(seed, result); !t.tells(len(result), sum) {
		ended := a.Task.Terminal()
		if t.ended && !ended {
			return
		}
		t.keepResult(k, result)
		t.ended, t.sum = ended && len(result) > 0, sum
	} // else the state is what it was
	t.at = now
	t.expires = t.until(&a.Task, now)
}

// tells reports whether the result of tasks/get is one that has this length and hash. Two that differ are taken for one once in 2^64, by chance
// alone, since nobody knows the seed: then the older one is told until the next one comes.
func (t *staleTask) tells(length int, sum uint64) bool {
	return len(t.result()) == length && (length == 0 || t.sum == sum)
}

// until is when nothing is told any more of a task that was just seen. A TTL counts from
// its creation; the first draft's keepAlive from its end.
func (t *staleTask) until(task *mcp.Task, now moment) moment {
	switch {
	case task.TTL > 0:
		return t.since + min(task.TTL, maxStaleLife)
	case task.KeepAlive > 0 && task.Terminal():
		return now + min(task.KeepAlive, maxStaleLife)
	}
	return t.since + maxStaleLife
}

// maxStaleLife is how long an end is kept of a task that has no TTL.
const maxStaleLife = 24 * time.Hour
