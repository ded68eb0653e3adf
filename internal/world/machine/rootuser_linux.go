package machine

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/nodeinit"
)

// identity is the user of a program with its own root.
type identity struct {
	uid, gid uint32
	groups   []uint32
	home     string
	oneUser  bool // programs can run only as csisim's user
}

// identify looks up the root's user from a calling thread in the root.
func (r *Root) identify(on *ownRoot) (*identity, error) {
	user, group, hasGroup := strings.Cut(r.User, ":")
	id := &identity{home: "/", oneUser: on.oneUser, groups: slices.Clone(r.Groups)}
	if user == "" {
		user = "0"
	}
	number, isNumber := idOf(user)
	entry, err := entryOf("/etc/passwd", func(f []string) bool { return f[0] == user || isNumber && f[2] == user }, 4)
	switch {
	case err != nil:
		return nil, err
	case entry == nil && !isNumber:
		return nil, fmt.Errorf("unable to find user %s: no matching entries in passwd file", user)
	case entry == nil:
		id.uid = number
	default:
		id.uid, _ = idOf(entry[2])
		id.gid, _ = idOf(entry[3])
		if len(entry) > 5 && entry[5] != "" {
			id.home = entry[5]
		}
		if err := id.addGroups(entry[0]); err != nil {
			return nil, err
		}
	}
	if hasGroup {
		id.gid, err = groupOf(group)
	}
	return id, err
}

// addGroups adds the groups that have a user as a member.
func (id *identity) addGroups(user string) error {
	_, err := entryOf("/etc/group", func(f []string) bool {
		if len(f) > 3 && slices.Contains(strings.Split(f[3], ","), user) {
			if gid, is := idOf(f[2]); is && !slices.Contains(id.groups, gid) {
				id.groups = append(id.groups, gid)
			}
		}
		return false
	}, 3)
	return err
}

func groupOf(group string) (uint32, error) {
	number, isNumber := idOf(group)
	entry, err := entryOf("/etc/group", func(f []string) bool { return f[0] == group }, 3)
	switch {
	case err != nil:
		return 0, err
	case entry != nil:
		number, _ = idOf(entry[2])
	case !isNumber:
		return 0, fmt.Errorf("unable to find group %s: no matching entries in group file", group)
	}
	return number, nil
}

func idOf(text string) (uint32, bool) {
	id, err := strconv.ParseUint(text, 10, 32)
	return uint32(id), err == nil
}

// entryOf returns the fields of the first line, in a file such as /etc/passwd, that matches and has
// enough fields; nil if there is none.
func entryOf(file string, matches func([]string) bool, least int) ([]string, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		if fields := strings.Split(lines.Text(), ":"); len(fields) >= least && matches(fields) {
			return fields, nil
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return nil, nil
}

// apply sets the user of a program that the calling thread is about to start in the root. It looks
// the program up in the PATH of the program's environment.
func (id *identity) apply(cmd *exec.Cmd) (err error) {
	home := "HOME=" + id.home
	if !slices.ContainsFunc(cmd.Env, func(entry string) bool { return strings.HasPrefix(entry, "HOME=") }) {
		cmd.Env = append(cmd.Env, home)
	}
	if cmd.Path, err = lookUpIn(cmd.Path, cmd.Env, cmd.Dir); err != nil {
		return err
	}
	if id.oneUser {
		return nil
	}
	cmd.SysProcAttr.Credential = &syscall.Credential{Uid: id.uid, Gid: id.gid, Groups: id.groups}
	for _, stream := range []any{cmd.Stdin, cmd.Stdout, cmd.Stderr} {
		if f, is := stream.(*os.File); is && f != nil { // so that the program can open /dev/stdout
			_ = f.Chown(int(id.uid), -1) // a terminal of another user keeps its owner
		}
	}
	return nil
}

// lookUpIn returns the path at which the calling thread finds a program.
func lookUpIn(name string, env []string, dir string) (string, error) {
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		info, err := os.Stat(name)
		if err == nil && info.IsDir() {
			err = syscall.EISDIR
		}
		if err != nil {
			return "", fmt.Errorf("exec: %q: %w", name, underlying(err))
		}
		return name, nil
	}
	search := ""
	for _, entry := range env {
		if value, is := strings.CutPrefix(entry, "PATH="); is {
			search = value
		}
	}
	for _, place := range filepath.SplitList(search) {
		file := filepath.Join(place, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && name != "" {
			return file, nil
		}
	}
	return "", fmt.Errorf("exec: %q: executable file not found in $PATH", name)
}

func underlying(err error) error {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number
	}
	return err
}

// confine removes privileges from the calling thread's children that the root's programs must not
// have.
func (r *Root) confine() error {
	if r.NoNewPrivileges {
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("gain no privileges: %w", err)
		}
	}
	if err := nodeinit.Deny(!r.Privileged); err != nil {
		return fmt.Errorf("deny system calls: %w", err)
	}
	return dropAllBut(r.has)
}

// has reports whether the root's programs may have a capability.
func (r *Root) has(name string) bool {
	return r.Privileged && !slices.Contains(Withheld, name) || slices.Contains(r.Capabilities, name)
}

// confine removes privileges from the calling thread's children that programs of the machine must
// not have. Drivers use keyrings: mount.ceph and cryptsetup put secrets there.
func (c Command) confine() error {
	if err := nodeinit.Deny(false); err != nil {
		return fmt.Errorf("deny system calls: %w", err)
	}
	return dropAllBut(func(name string) bool {
		return !slices.Contains(Withheld, name) || slices.Contains(c.Capabilities, name)
	})
}

func dropAllBut(has func(name string) bool) error {
	for number, name := range Capabilities {
		if has(name) {
			continue
		}
		err := unix.Prctl(unix.PR_CAPBSET_DROP, uintptr(number), 0, 0, 0)
		if err != nil && !errors.Is(err, unix.EINVAL) { // older kernels lack it
			return fmt.Errorf("drop capability %s: %w", name, err)
		}
	}
	return nil
}
