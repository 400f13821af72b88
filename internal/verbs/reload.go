package verbs

import (
	"fmt"
	"io"
	"net/http"
	"strings"

	"berth/internal/api"

	"github.com/urfave/cli/v2"
)

func reloadCommand() *cli.Command {
	return &cli.Command{
		Name:  "reload",
		Usage: "have a berth that runs read its configuration file anew",
		Flags: operatorFlags(),
		Action: func(c *cli.Context) error {
			o, err := newOperator(c)
			if err != nil {
				return err
			}
			var told api.Reloaded
			if err := o.call(c.Context, http.MethodPost, api.ReloadPath, nil, &told); err != nil {
				return err
			}
			return o.print(told, func(w io.Writer) error { return tellReload(w, told) })
		},
	}
}

func tellReload(w io.Writer, r api.Reloaded) error {
	text := r.File + ": in use"
	if len(r.Changed)+len(r.Restart) == 0 {
		text += ", none of its keys has changed"
	}
	if len(r.Changed) > 0 {
		text += "\nchanged: " + strings.Join(r.Changed, ", ")
	}
	if len(r.Restart) > 0 {
		text += "\nneeds a restart: " + strings.Join(r.Restart, ", ")
	}
	_, err := fmt.Fprintln(w, text)
	return err
}
