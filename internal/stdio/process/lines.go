package process

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// lineReader reads lines of which it holds one, up to a bound.
type lineReader struct {
	r        *bufio.Reader
	most     int  // bytes of a line that are held
	skipping bool // the rest of a line that was cut is still to come
}

func newLineReader(r io.Reader, most int) *lineReader {
	return &lineReader{r: bufio.NewReaderSize(r, 16<<10), most: most}
}

// next returns the next line without its end, in memory of its own. cut says that it is longer
// than is held; what follows of it is passed over by the next call, and not before.
func (l *lineReader) next() (line []byte, cut bool, err error) {
	for l.skipping {
		_, err := l.r.ReadSlice('\n')
		if l.skipping = errors.Is(err, bufio.ErrBufferFull); err != nil && !l.skipping {
			return nil, false, err
		}
	}
	for {
		part, err := l.r.ReadSlice('\n')
		more := errors.Is(err, bufio.ErrBufferFull)
		part, _ = bytes.CutSuffix(part, []byte("\n"))
		if len(line)+len(part) > l.most {
			l.skipping = more
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
