package stdio

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"syscall"
)

// command is what is run: without a shell, in a process group of its own.
func (o *Options) command() (*exec.Cmd, error) {
	if len(o.Command) == 0 {
		return nil, fmt.Errorf("stdio: no command")
	}
	cmd := exec.Command(o.Command[0], o.Command[1:]...)
	cmd.Dir = o.Dir
	cmd.SysProcAttr = attributes()
	account, err := o.account()
	if err != nil {
		return nil, err
	}
	if account != nil {
		if cmd.SysProcAttr.Credential, err = credential(account); err != nil {
			return nil, err
		}
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

// credential are the ids of an account, and of all groups that it is in.
func credential(account *user.User) (*syscall.Credential, error) {
	groups, err := account.GroupIds()
	if err != nil {
		return nil, fmt.Errorf("stdio: looking up the user's groups: %w", err)
	}
	ids := make([]uint32, 0, len(groups)+2)
	for _, id := range append([]string{account.Uid, account.Gid}, groups...) {
		n, err := strconv.ParseUint(id, 10, 32)
		if err != nil {
			return nil, fmt.Errorf("stdio: reading the user's ids: %w", err)
		}
		ids = append(ids, uint32(n))
	}
	return &syscall.Credential{Uid: ids[0], Gid: ids[1], Groups: ids[2:]}, nil
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
