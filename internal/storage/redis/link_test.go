package redis

import (
	"bufio"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"berth/internal/storage/redistest"
)

// A write is sent once, so that it must not go by a connection which the server has closed meanwhile.
func TestNothingIsSentByAClosedConnection(t *testing.T) {
	server := redistest.Start(t)
	r := engineOn(t, server.Addr, 0, time.Second)
	for range 20 {
		if err := r.Put(t.Context(), "k", []byte("v"), 0); err != nil {
			t.Fatal(err)
		}
		server.Do("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
		time.Sleep(2 * aMoment)
	}
}

// A server that says that it takes no writes may be one that its name does not stand for any more.
func TestAServerThatTakesNoWritesIsLeft(t *testing.T) {
	server := redistest.Start(t)
	s := tripsTo(t, server.Addr, time.Minute)
	if _, _, err := s.get("k"); err != nil {
		t.Fatal(err)
	}
	before := s.lanes[0].link
	server.Do("REPLICAOF", "127.0.0.1", "1")
	p := &passenger{arrived: make(chan bool, 1)}
	p.request = p.request.begin(3).text("set").text("k").text("v")
	if _, err := s.carry(p); err == nil || !strings.HasPrefix(err.Error(), "READONLY") {
		t.Errorf("a write: got %v, want READONLY", err)
	}
	if _, _, err := s.get("k"); err != nil || s.lanes[0].link == before {
		t.Errorf("afterwards: got %v, by the connection of before: %v", err, s.lanes[0].link == before)
	}
}

// Servers before 7.0 quote what a script was refused for in an error of their own.
func TestAServerIsLeftThatSaysSoInAScriptsError(t *testing.T) {
	for said, want := range map[string]bool{
		"READONLY You can't write against a read only replica. script: ab12, on @user_script:12.":                                              true,
		"ERR Error running script (call to f_ab12): @user_script:12: @user_script: 12: -READONLY You can't write against a read only replica.": true,
		"MOVED 3999 127.0.0.1:6381": true,
		"ERR Error running script (call to f_ab12): @user_script:12: @user_script: 12: -OOM command not allowed when used memory > 'maxmemory'.": false,
		"WRONGTYPE Operation against a key holding the wrong kind of value":                                                                      false,
	} {
		p := new(passenger)
		if err := p.answer.read(bufio.NewReader(strings.NewReader("-" + said + "\r\n"))); err != nil {
			t.Fatal(err)
		}
		if got := astray([]*passenger{p}); got != want {
			t.Errorf("%s: left: %v, want %v", said, got, want)
		}
	}
}

// A connection is trusted for so long only, and not once it was unused for long.
func TestAConnectionIsUsedAsLongAsItIsTrusted(t *testing.T) {
	s := tripsTo(t, redistest.Start(t).Addr, time.Minute)
	if _, _, err := s.get("k"); err != nil {
		t.Fatal(err)
	}
	l := s.lanes[0].link
	for name, tc := range map[string]struct {
		after, lifetime time.Duration
		want            bool
	}{
		"a moment":                        {aMoment / 2, 0, true},
		"some time":                       {time.Second, 0, true},
		"as long as firewalls know it":    {idleConnection + time.Second, 0, false},
		"as long as a master is believed": {masterTrusted + time.Second, masterTrusted, false},
	} {
		l.made, l.used = time.Now(), time.Now()
		if got := l.fit(time.Now().Add(tc.after), tc.lifetime); got != tc.want {
			t.Errorf("%s: got %v, want %v", name, got, tc.want)
		}
	}
}

// What a server answers is read to its end and no further, and what is none is not believed.
func TestAnswersAreRead(t *testing.T) {
	nothing, long := "(nothing)", strings.Repeat("x", 3*roomIn)
	for wire, want := range map[string][]string{
		"+OK\r\n":                        {"OK"},
		":12\r\n":                        {"12"},
		"$3\r\na\r\n\r\n":                {"a\r\n"},
		"$0\r\n\r\n":                     {""},
		"$-1\r\n":                        {nothing},
		"*-1\r\n":                        {nothing},
		"*3\r\n:1\r\n$-1\r\n$1\r\nb\r\n": {"1", nothing, "b"},
		"*0\r\n":                         {},
		"$49152\r\n" + long + "\r\n":     {long},
		"\r\n":                           nil,
		"!3\r\nabc\r\n":                  nil,
		"$x\r\n":                         nil,
		"$-2\r\n":                        nil,
		"$999999999999\r\n":              nil,
		"*1\r\n*1\r\n:1\r\n":             nil,
		"+" + long + "\r\n":              nil,
		"+OK\n":                          nil,
	} {
		var a response
		in := bufio.NewReaderSize(strings.NewReader(wire+":7\r\n"), roomIn)
		if err := a.read(in); (err != nil) != (want == nil) {
			t.Errorf("%.20q: got %v", wire, err)
		} else if err != nil {
			continue
		}
		got := make([]string, 0, len(a.parts))
		for i, p := range a.parts {
			text := string(a.of(i))
			switch p.kind {
			case ':':
				text = strconv.FormatInt(p.n, 10)
			case none:
				text = nothing
			}
			got = append(got, text)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.20q: got %.20q, want %.20q", wire, got, want)
		}
		if a.read(in); !a.is(7) {
			t.Errorf("%.20q: what follows is %+v", wire, a.parts)
		}
	}
	var a response
	if err := a.read(bufio.NewReader(strings.NewReader("$3\r\nab"))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("one that is cut: got %v", err)
	}
}
