package verbs

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// Category is what help lists these verbs under.
const Category = "operate"

// Commands are all of them.
func Commands() []*cli.Command {
	all := []*cli.Command{
		statusCommand(), topCommand(), upstreamsCommand(), drainCommand(), undrainCommand(), tasksCommand(), queuesCommand(),
		sessionsCommand(), subscriptionsCommand(), explainCommand(), decisionsCommand(), troublesCommand(), berthsCommand(),
		limitsCommand(), configCommand(), logLevelCommand(), profileCommand(), reloadCommand(), readyCommand(),
	}
	for _, verb := range all {
		verb.Category = Category
	}
	return all
}

// Misused says that a command line means nothing.
func Misused(format string, args ...any) error {
	return cli.Exit(fmt.Errorf(format, args...), codeUsage)
}
