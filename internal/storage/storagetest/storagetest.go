// Package storagetest holds the contract that every storage engine keeps.
package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"berth/internal/storage"
)

// long is a life that no case outlives.
const long = time.Hour

// TestEngine runs the contract. open returns an engine without any of the keys of
// earlier calls; each case closes its own.
func TestEngine(t *testing.T, open func(t *testing.T) storage.Engine) {
	cases := []struct {
		name string
		run  func(c *contract)
	}{
		{"GetOfAnAbsentKeyIsNotFound", (*contract).getAbsent},
		{"PutIfAbsentMakesVersionOne", (*contract).putIfAbsentCreates},
		{"PutIfAbsentReturnsWhatStands", (*contract).putIfAbsentStands},
		{"PutIfAbsentTwiceIsOneWrite", (*contract).putIfAbsentRepeated},
		{"PutIfAbsentHasOneWinner", (*contract).putIfAbsentRace},
		{"SwapCountsVersions", (*contract).swap},
		{"SwapOfAnotherVersionConflicts", (*contract).swapConflict},
		{"SwapOfAnAbsentKeyIsNotFound", (*contract).swapAbsent},
		{"SwapLosesNoUpdate", (*contract).swapRace},
		{"PutOverwritesAndCounts", (*contract).put},
		{"SomeAreReadAtOnce", (*contract).getSome},
		{"SeveralAreWrittenAtOnce", (*contract).each},
		{"StepsAreDoneInOrder", (*contract).inOrder},
		{"DeleteForgets", (*contract).remove},
		{"RecordsExpire", (*contract).expire},
		{"ExpiredKeysCanBeMadeAnew", (*contract).expiredIsAbsent},
		{"SwapSetsTheExpiryAnew", (*contract).swapExpiry},
		{"SwapCanLeaveTheExpiry", (*contract).swapKeepsExpiry},
		{"PutCanLeaveTheExpiry", (*contract).putKeepsExpiry},
		{"TheClockGoes", (*contract).clock},
		{"AListHoldsItsMembers", (*contract).enlist},
		{"MembersStandInTheOrderOfTheirExpiry", (*contract).membersInOrder},
		{"MembersExpire", (*contract).membersExpire},
		{"AMemberThatStandsStaysAsItIs", (*contract).enlistRepeated},
		{"AFullListTakesNoOther", (*contract).enlistFull},
		{"NoRaceOverfillsAList", (*contract).enlistRace},
		{"AMemberIsKeptAnew", (*contract).kept},
		{"MembersAreKeptTogether", (*contract).keptTogether},
		{"AListingTellsSizeAndLives", (*contract).listing},
		{"AListingCountsNoneThatExpired", (*contract).listingExpires},
		{"PagesTellEachMemberOnce", (*contract).pages},
		{"PagesGoOnWhereMembersCameAndWent", (*contract).pagesAmidChanges},
		{"NoRaceKeepsAMemberTwice", (*contract).keptRace},
		{"MembersAreBytes", (*contract).binaryMembers},
		{"ListsDoNotMix", (*contract).lists},
		{"BlobsAreKeptWhole", (*contract).blobs},
		{"ABlobIsReplaced", (*contract).blobReplaced},
		{"ABlobWithoutAPieceIsNotFound", (*contract).blobPiece},
		{"ABlobExpires", (*contract).blobExpires},
		{"ValuesAreBytes", (*contract).binary},
		{"ValuesAreCopied", (*contract).copies},
		{"ALeavingCallerGetsItsOwnError", (*contract).cancelled},
		{"AClosedEngineIsUnavailable", (*contract).closed},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			engine := open(t)
			defer func() {
				if err := engine.Close(); err != nil {
					t.Errorf("Close: %v", err)
				}
			}()
			tc.run(&contract{T: t, engine: engine})
		})
	}
}

// contract is one case at work.
type contract struct {
	*testing.T
	engine storage.Engine
}

func (c *contract) binary() {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for i, value := range []string{string(every), "", "7:x", ":", "\r\n", string(bytes.Repeat([]byte{0xff}, 1<<20))} {
		key := fmt.Sprintf("k %d\x00\r\nµ", i)
		c.create(key, value, long)
		c.stands(key, value, 1)
	}
}

func (c *contract) copies() {
	value := []byte("a")
	if _, _, err := c.engine.PutIfAbsent(c.Context(), "k", value, long); err != nil {
		c.Fatalf("PutIfAbsent: %v", err)
	}
	value[0] = 'x'
	c.stands("k", "a", 1)
}

func (c *contract) cancelled() {
	c.create("k", "a", long)
	left, leave := context.WithCancel(c.Context())
	leave()
	_, err := c.engine.Get(left, "k")
	if !errors.Is(err, context.Canceled) || errors.Is(err, storage.ErrUnavailable) {
		c.Errorf("Get: got %v, want context.Canceled", err)
	}
}

func (c *contract) closed() {
	if err := c.engine.Close(); err != nil {
		c.Fatalf("Close: %v", err)
	}
	if _, err := c.engine.Get(c.Context(), "k"); !errors.Is(err, storage.ErrUnavailable) {
		c.Errorf("Get: got %v, want ErrUnavailable", err)
	}
	if err := c.engine.Put(c.Context(), "k", nil, long); !errors.Is(err, storage.ErrUnavailable) {
		c.Errorf("Put: got %v, want ErrUnavailable", err)
	}
}

func (c *contract) create(key, value string, ttl time.Duration) (storage.Record, bool) {
	c.Helper()
	record, created, err := c.engine.PutIfAbsent(c.Context(), key, []byte(value), ttl)
	if err != nil {
		c.Errorf("PutIfAbsent %q: %v", key, err)
	}
	return record, created
}

func (c *contract) stands(key, value string, version uint64) {
	c.Helper()
	record, err := c.engine.Get(c.Context(), key)
	if err != nil {
		c.Errorf("Get %q: %v", key, err)
		return
	}
	c.equal(record, value, version)
}

func (c *contract) equal(record storage.Record, value string, version uint64) {
	c.Helper()
	if string(record.Value) != value || record.Version != version {
		c.Errorf("got %.40q at version %d, want %.40q at %d", record.Value, record.Version, value, version)
	}
}
