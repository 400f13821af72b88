package config

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestReadSealKeyTakesTheValueOrTheFile(t *testing.T) {
	random := bytes.Repeat([]byte{0xfb, 1}, 16)
	file := func(text string) Store {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return Store{SealKeyFile: path}
	}
	padded := base64.StdEncoding.EncodeToString(random)
	for name, s := range map[string]Store{
		"value":            {SealKey: Secret(padded)},
		"without padding":  {SealKey: Secret(strings.TrimRight(padded, "="))},
		"file with a line": file(padded + "\n"),
	} {
		if key, err := s.ReadSealKey(); err != nil || !bytes.Equal(key, random) {
			t.Errorf("%s: got %x, %v, want %x", name, key, err, random)
		}
	}
	if key, err := (Store{SealKey: Secret(hex.EncodeToString(random))}).ReadSealKey(); err != nil || len(key) < 32 {
		t.Errorf("in hexadecimal form: got %x, %v, want a key", key, err)
	}
	if key, err := (Store{}).ReadSealKey(); err != nil || key != nil {
		t.Errorf("none set: got %x, %v", key, err)
	}
	for name, s := range map[string]Store{
		"too short": file(base64.StdEncoding.EncodeToString(random[1:])), "empty": file(" \n"), "no base64": file(strings.Repeat("?", 50)), "too long": file(strings.Repeat("A", 5000)),
	} {
		if key, err := s.ReadSealKey(); !errors.Is(err, ErrSealKey) || strings.Contains(err.Error(), "AAAA") {
			t.Errorf("%s: got %x, %v, want ErrSealKey", name, key, err)
		}
	}
	if _, err := (Store{SealKeyFile: filepath.Join(t.TempDir(), "none")}).ReadSealKey(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file: got %v", err)
	}
}
