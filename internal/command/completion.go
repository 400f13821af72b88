package command

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// scripts have a shell ask berth itself what may come next.
var scripts = map[string]string{
	"bash": `_berth() {
	local words=("${COMP_WORDS[@]:1:COMP_CWORD-1}") current="${COMP_WORDS[COMP_CWORD]}" found
	if [[ "$current" == -* ]]; then
		words+=("$current")
	fi
	found=$("${COMP_WORDS[0]}" "${words[@]}" ` + completionFlag + ` 2>/dev/null)
	mapfile -t COMPREPLY < <(compgen -W "$found" -- "$current")
}
complete -o bashdefault -o default -F _berth berth
`,
	"zsh": `#compdef berth
_berth() {
	local -a found words_before
	words_before=("${(@)words[2,CURRENT-1]}")
	if [[ "${words[CURRENT]}" == -* ]]; then
		words_before+=("${words[CURRENT]}")
	fi
	found=("${(@f)$(${words[1]} ${words_before} ` + completionFlag + ` 2>/dev/null)}")
	_describe 'berth' found
}
compdef _berth berth
`,
	"fish": `function __berth_complete
	set -l before (commandline -opc)
	set -l current (commandline -ct)
	if string match -q -- '-*' $current
		set before $before $current
	end
	$before ` + completionFlag + ` 2>/dev/null | string replace -r '^([^:]*):(.*)$' '$1\t$2'
end
complete -c berth -f -a '(__berth_complete)'
`,
}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print what has a shell complete verbs, flags, upstreams and tasks", ArgsUsage: "bash|zsh|fish",
		BashComplete: func(c *cli.Context) {
			if c.NArg() == 0 {
				fmt.Fprintln(c.App.Writer, "bash\nzsh\nfish")
			}
		},
		Action: func(c *cli.Context) error {
			script, known := scripts[c.Args().First()]
			if !known || c.NArg() != 1 {
				return misused("berth completion: name a shell: bash, zsh or fish")
			}
			_, err := fmt.Fprint(c.App.Writer, script)
			return err
		},
	}
}
