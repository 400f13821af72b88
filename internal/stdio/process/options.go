package process

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"time"
)

// Options say what is run, and how. All are required but where a zero value has a meaning.
type Options struct {
	Command   []string          // program, looked for in berth's own PATH, and arguments; no shell reads them
	Dir       string            // working directory; "": berth's
	Env       map[string]string // set for the process
	EnvAllow  []string          // names passed on from berth's own environment
	User      string            // name or uid that the process runs as; "": berth's. Another takes root
	MaxLine   int               // bytes of one line of stdout that are held
	MaxMemory int64             // bytes of private writable memory of each process in the group (RLIMIT_DATA); Linux only; 0: any
	Ask       time.Duration     // from the end of stdin to SIGTERM
	Grace     time.Duration     // from SIGTERM to SIGKILL
	Drain     time.Duration     // for reading what a process wrote before its end
	Stuck     time.Duration     // how long a process may leave a full queue unread
	Logger    *slog.Logger
}

var errNoCommand = errors.New("stdio: no command")

// command is what is run: without a shell, in a process group of its own.
func (o *Options) command() (*exec.Cmd, error) {
	if len(o.Command) == 0 {
		return nil, errNoCommand
	}
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Dir = o.Dir
	account, err := o.account()
	if err != nil {
		return nil, err
	}
	if cmd.SysProcAttr, err = attributes(account); err != nil {
		return nil, err
	}
	cmd.Env = o.environment(account)
	return cmd, nil
}

// account returns whom the process runs as, nil for berth's own user.
func (o *Options) account() (*user.User, error) {
	if o.User == "" {
		return nil, nil
	}
	account, err := user.Lookup(o.User)
	if err == nil {
		return account, nil
	}
	if _, notUID := strconv.ParseUint(o.User, 10, 32); notUID != nil {
		return nil, fmt.Errorf("stdio: looking up the user: %w", err)
	}
	if account, err = user.LookupId(o.User); err != nil {
		return nil, fmt.Errorf("stdio: looking up the user: %w", err)
	}
	return account, nil
}

// environment is what the process gets, and nothing else of berth's: that holds secrets.
func (o *Options) environment(account *user.User) []string {
	env := map[string]string{"PYTHONUNBUFFERED": "1"} // Python looks dead while it buffers
	for _, name := range o.EnvAllow {
		if value, ok := os.LookupEnv(name); ok {
			env[name] = value
		}
	}
	if account != nil {
		env["HOME"], env["USER"], env["LOGNAME"] = account.HomeDir, account.Username, account.Username
	}
	maps.Copy(env, o.Env)
	list := make([]string, 0, len(env))
	for name, value := range env {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}
