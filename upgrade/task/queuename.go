package task

// QueueName is where a task queues: those whose calls can go to one upstream alone, in front of
// that.
func (t *Task) QueueName() string {
	if t.Session == "" {
		return t.Terms.Queue
	}
	return t.Terms.Queue + QueueMark + Digest(t.Upstream)
}

// QueueMark stands between a queue and one of its lines.
const QueueMark = "@"
