package proxy_test

import (
	"testing"

	"berth/routing"
)

// Where live tasks count as load, those that were made a moment ago do: a burst does not go to one instance.
func TestTasksCountAsLoadFromTheirBeginning(t *testing.T) {
	picker, err := routing.NewPicker(routing.NameLeastLoad)
	if err != nil {
		t.Fatal(err)
	}
	f := newRig(t, rigOptions{size: 3, picker: picker})
	f.pool.Configure(routing.Settings{Picker: picker, CountTasks: true})
	made := map[string]int{}
	for range 9 {
		made[f.owner(f.newTask(60))]++
	}
	for _, server := range f.servers {
		if made[server.Name] != 3 {
			t.Errorf("got %v, want three at each", made)
			break
		}
	}
}
