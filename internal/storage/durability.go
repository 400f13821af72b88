package storage

import (
	"errors"
	"strconv"
	"strings"
)

const maxReplicas = 32

var (
	errDurability = errors.New(`storage: unknown durability, want "ack" or "replicas:N" with N from 1 to 32`)
	errNoReplicas = errors.New("storage: only Redis has replicas to wait for")
)

// CheckDurability says what is wrong with a durability for the store of url, as Open would; a wrong
// URL is not reported here.
func CheckDurability(url, text string) error {
	t, err := parseURL(url)
	if err != nil {
		_, err = parseDurability(text)
		return err
	}
	_, err = t.replicas(text)
	return err
}

// replicas is how many of the Redis master's have to have a write, beside it; 0: none.
func (t target) replicas(text string) (int, error) {
	n, err := parseDurability(text)
	if err == nil && n > 0 && t.redis == nil {
		return 0, errNoReplicas
	}
	return n, err
}

func parseDurability(text string) (int, error) {
	if text == "" || text == "ack" {
		return 0, nil
	}
	count, ok := strings.CutPrefix(text, "replicas:")
	n, err := strconv.Atoi(count)
	if !ok || err != nil || n < 1 || n > maxReplicas || strconv.Itoa(n) != count {
		return 0, errDurability
	}
	return n, nil
}
