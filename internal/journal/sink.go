package journal

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"time"
)

// sink is an output that may take nothing, or a part of what it is given, as a file does whose disk is full. It is used by one at a time.
type sink struct {
	out  io.Writer
	torn bool // the last line that went out was cut off
	lost int  // lines that did not go out, and that nobody was told of
}

// write writes lines, after a line that tells of those that were lost before. It returns how many of these are lost.
func (s *sink) write(lines []byte) (lost int) {
	if s.lost > 0 && s.put(lossOf(s.lost)) > 0 {
		lost = bytes.Count(lines, []byte("\n"))
	} else {
		s.lost = 0
		lost = s.put(lines)
	}
	s.lost += lost
	return lost
}

// put writes whole lines, none of them behind one that was cut off, and returns how many did not go out.
func (s *sink) put(lines []byte) (left int) {
	if len(lines) == 0 {
		return 0
	}
	if s.torn {
		if n, _ := s.out.Write([]byte("\n")); n == 0 {
			return bytes.Count(lines, []byte("\n"))
		}
		s.torn = false
	}
	n, _ := s.out.Write(lines)
	if n <= 0 {
		return bytes.Count(lines, []byte("\n"))
	}
	s.torn = lines[n-1] != '\n'
	left = bytes.Count(lines[n:], []byte("\n"))
	if s.torn && n < len(lines) && lines[n] == '\n' { // it lacks its end alone, which comes first
		left--
	}
	return left
}

// lossOf is the line that tells of lines that were lost.
func lossOf(lines int) []byte {
	line, _ := json.Marshal(struct {
		Time    time.Time  `json:"time"`
		Level   slog.Level `json:"level"`
		Message string     `json:"msg"`
		Lines   int        `json:"lines"`
	}{time.Now(), slog.LevelWarn, "lines of the log were lost: the output took none", lines})
	return append(line, '\n')
}
