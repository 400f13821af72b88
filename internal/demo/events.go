package demo

import (
	"bufio"
	"bytes"
	"io"
	"iter"
)

// maxLine bounds one line of an event stream, in bytes.
const maxLine = 1 << 20

// events yields the data of each server-sent event that has any, its lines
// joined; comments, ids and priming events are passed over. A read error is
// yielded last.
func events(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, maxLine)
		var data [][]byte
		for lines.Scan() {
			line := lines.Bytes()
			if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				value = bytes.TrimPrefix(value, []byte(" "))
				data = append(data, bytes.Clone(value))
				continue
			}
			if len(line) > 0 {
				continue
			}
			event := bytes.Join(data, []byte("\n"))
			data = nil
			if len(event) > 0 && !yield(event, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, err)
		}
	}
}
