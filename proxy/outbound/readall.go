package outbound

import "io"

const (
	// usualAnswer is what is read at once where nobody says how much comes, in bytes.
	usualAnswer = 512

	// mostAtOnce bounds what is set aside for an answer because its upstream says that so much comes.
	mostAtOnce = 16 << 10
)

// ReadAll is io.ReadAll of a body which is said to have so many bytes, -1 if nobody says. Where that is so they are
// read into memory as large.
func ReadAll(body io.Reader, length int64) ([]byte, error) {
	room := int64(usualAnswer)
	if length >= 0 {
		room = min(length, mostAtOnce) + 1 // its end shows when there is room for more
	}
	all := make([]byte, 0, room)
	for {
		n, err := body.Read(all[len(all):cap(all)])
		all = all[:len(all)+n]
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		if len(all) == cap(all) {
			all = append(all, 0)[:len(all)]
		}
	}
}
