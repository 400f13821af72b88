package process

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
)

// lineReader reads lines of which it holds one, up to a bound.
type lineReader struct {
	r        *bufio.Reader
	most     int    // bytes of a line that are held
	skipping bool   // the rest of a line that was cut is still to come
	end      []byte // of what came of a line beyond what is held
}

// keptEnd is how much of the end of a line that was cut is held, in bytes.
const keptEnd = 256

var errEndless = errors.New("stdio: a line has no end")

func newLineReader(r io.Reader, most int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 16<<10), most: most}
}

// next returns the next line without its end, in memory of its own. cut says that it is longer
// than is held; what follows of it is passed over by the next call, and not before.
func (l *lineReader) next() (line []byte, cut bool, err error) {
	if _, err := l.rest(math.MaxInt); err != nil {
		return nil, false, err
	}
	for {
		part, err := l.r.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		part, _ = bytes.CutSuffix(part, []byte("\n"))
		if len(line)+len(part) > l.most {
			l.skipping, l.end = more, nil
			l.keepEnd(part[l.most-len(line):])
			return append(line, part[:l.most-len(line)]...), true, nil
		}
		line = append(line, part...)
		switch {
		case more:
		case err != nil && len(line) == 0:
			return nil, false, err
		default: // what ended it comes with the next call
			return line, false, nil
		}
	}
}

// rest passes over what follows of a line that was cut, and returns the last of that. errEndless says that there is more than most
// bytes of it.
func (l *lineReader) rest(most int) (end []byte, err error) {
	for l.skipping {
		part, err := l.r.ReadSlice('\n')
		if l.skipping = errors.Is(err, bufio.ErrBufferFull); err != nil && !l.skipping {
			return nil, err
		}
		if most -= len(part); most < 0 {
			return nil, errEndless
		}
		part, _ = bytes.CutSuffix(part, []byte("\n"))
		l.keepEnd(part)
	}
	return l.end, nil
}

func (l *lineReader) keepEnd(part []byte) {
	l.end = append(l.end, part[max(0, len(part)-keptEnd):]...)
	l.end = append(l.end[:0], l.end[max(0, len(l.end)-keptEnd):]...)
}
