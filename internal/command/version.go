package command

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"berth/internal/build"

	"github.com/urfave/cli/v2"
)

type versionInfo struct {
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // the commit it was built from, if the build knew
	Modified bool   `json:"modified,omitempty"` // built from a changed work tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readVersion() versionInfo {
	v := versionInfo{Version: build.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value
		case "vcs.modified":
			v.Modified = s.Value == "true"
		}
	}
	return v
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Flags: []cli.Flag{&cli.BoolFlag{Name: "json", Usage: "as JSON"}},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if c.Bool("json") {
				return json.NewEncoder(c.App.Writer).Encode(readVersion())
			}
			return printVersion(c.App.Writer)
		},
	}
}

func printVersion(w io.Writer) error {
	v := readVersion()
	_, err := fmt.Fprintf(w, "berth %s %s %s %s\n", v.Version, v.Revision, v.Go, v.Platform)
	return err
}
