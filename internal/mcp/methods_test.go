package mcp

import "testing"

func TestWhatAMethodMayDo(t *testing.T) {
	type may struct{ create, wait, repeat bool }
	for method, want := range map[string]may{
		"tools/call":                {create: true, wait: true},
		"vendor/do":                 {create: true, wait: true},
		"sampling/createMessage":    {create: true, wait: true},
		"tasks/result":              {wait: true},
		"subscriptions/listen":      {wait: true},
		"tasks/get":                 {},
		"tasks/cancel":              {},
		"tasks/update":              {},
		"tasks/list":                {}, // every instance has its own
		"tasks/rewind":              {},
		"tools/list":                {repeat: true},
		"resources/templates/list":  {repeat: true},
		"resources/read":            {repeat: true},
		"prompts/get":               {repeat: true},
		"server/discover":           {repeat: true},
		"completion/complete":       {repeat: true},
		"ping":                      {repeat: true},
		"initialize":                {},
		"logging/setLevel":          {},
		"resources/subscribe":       {},
		"notifications/cancelled":   {},
		"notifications/initialized": {},
		"":                          {}, // a response
	} {
		if got := (may{MayCreateTask(method), MayWait(method), IsPureRead(method)}); got != want {
			t.Errorf("%q: got %+v, want %+v", method, got, want)
		}
	}
}

func TestTaskMethodsAreThoseOfThePrefix(t *testing.T) {
	for method, want := range map[string]bool{
		"tasks/get": true, "tasks/list": true, "tasks/rewind": true, "tasks/": true,
		"tasks": false, "Tasks/get": false, "notifications/tasks": false, "notifications/tasks/status": false, "vendor/tasks/get": false,
	} {
		if got := isTaskMethod(method); got != want {
			t.Errorf("isTaskMethod(%q) = %v", method, got)
		}
	}
}
