package upgrade

import (
	"strings"
	"testing"

	"berth/internal/seal"
)

// A berth up to 0.4 named a key after the Authorization of its caller. What it has recorded
// is found by the same, and by nobody who bore none: that was one name for them all.
func TestKeyOfAnEarlierBerthNamesItsTask(t *testing.T) {
	b := newBerth(settings{at: newCell(memory(t)), keys: givenKeys(t)}, newTool())
	c := creation(rule(nil), "stay")
	c.Asker.Principal = ""
	for authorization, found := range map[string]bool{"digest": true, "": false} {
		t.Run("authorization "+authorization, func(t *testing.T) {
			earlier, err := b.Maker.create(t.Context(), c, c.OnceOf("authorization "+authorization, "k"))
			if err != nil {
				t.Fatal(err)
			}
			defer earlier.Discard()
			c := c
			c.Credentials = Credentials{All: "all " + authorization, Authorization: authorization}
			held, view, err := b.Maker.CreateOnce(t.Context(), c, "k", nil)
			if err != nil {
				t.Fatal(err)
			}
			if held != nil {
				defer held.Discard()
			}
			if same := held == nil && view.ID == earlier.Task().ID; same != found {
				t.Errorf("held %v, task %s, want the earlier one: %v", held != nil, view.ID, found)
			}
		})
	}
}

// What a record says of its creator cannot be tried out without the deployment's secret, and
// is recognised by every berth that has it.
func TestCreatorIsKeyed(t *testing.T) {
	store := memory(t)
	b := newBerth(settings{at: newCell(store), keys: givenKeys(t)}, newTool())
	other, err := seal.NewKeyring([]byte(strings.Repeat("other", 8)))
	if err != nil {
		t.Fatal(err)
	}
	stranger := newBerth(settings{at: newCell(store), keys: other}, newTool())
	bears := Credentials{All: "all", Named: "named"}
	who, err := b.ledger.IDs.Creator(t.Context(), bears)
	if err != nil {
		t.Fatal(err)
	}
	theirs, err := stranger.ledger.IDs.Creator(t.Context(), bears)
	if err != nil {
		t.Fatal(err)
	}
	if who == theirs || who.Credentials == who.Named || strings.Contains(who.Credentials+who.Named, "all") {
		t.Errorf("got %+v and, under another secret, %+v", who, theirs)
	}
	task := Task{Creator: who}
	if !b.IDs.MadeWith(&task, bears) || b.IDs.MadeWith(&task, Credentials{All: "named"}) || b.IDs.MadeWith(&task, Credentials{}) {
		t.Error("the credentials are not told from others")
	}
	if !b.IDs.MayBeCreators(&task, bears) || b.IDs.MayBeCreators(&task, Credentials{Named: "all"}) || b.IDs.MayBeCreators(&task, Credentials{}) {
		t.Error("whom they name is not told from others")
	}
}
