package verbs

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"berth/internal/api"

	"github.com/urfave/cli/v2"
)

// completeWithin is how long a berth is waited for while somebody types.
const completeWithin = time.Second

// complete offers words for the argument that is being typed, or flags where that begins with a dash.
func complete(c *cli.Context, words ...string) {
	if len(os.Args) > 2 && strings.HasPrefix(os.Args[len(os.Args)-2], "-") {
		cli.DefaultCompleteWithFlags(c.Command)(c)
		return
	}
	if c.NArg() > 0 {
		return // it has its argument
	}
	for _, word := range words {
		fmt.Fprintln(c.App.Writer, word)
	}
}

// completeBy offers words that a berth names; none while nobody answers.
func completeBy[T any](c *cli.Context, path string, words func(T) []string) {
	var told T
	if o, err := newOperator(c); err == nil {
		ctx, cancel := context.WithTimeout(context.Background(), completeWithin)
		defer cancel()
		o.json = false // words alone
		_ = o.call(ctx, "GET", path, nil, &told)
	}
	complete(c, words(told)...)
}

func completeTasks(c *cli.Context) {
	completeBy(c, tasksPath+"?limit=200", func(t api.Tasks) (ids []string) {
		for _, one := range t.Tasks {
			ids = append(ids, one.ID)
		}
		return ids
	})
}

func completeQueues(c *cli.Context) {
	completeBy(c, queuesPath, func(q api.Queues) (ids []string) {
		for _, one := range q.Queues {
			ids = append(ids, one.ID)
		}
		return ids
	})
}

func completeUpstreams(c *cli.Context) {
	completeBy(c, api.UpstreamsPath, func(u api.Upstreams) (names []string) {
		for _, one := range u.Upstreams {
			names = append(names, one.Pool+"/"+one.Name)
		}
		return names
	})
}
