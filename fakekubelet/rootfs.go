package fakekubelet

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/machine"
)

// errNoCommand is returned for a container without a command.
var errNoCommand = errors.New("failed to generate spec: no command specified")

// searchPath is the PATH of a container if its image has none.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// rootCommand returns the command of a container with an image's root file system.
func (c *container) rootCommand(root *runtime.RootFS, vars variables) (machine.Command, error) {
	if err := c.verifyNonRoot(root); err != nil {
		return machine.Command{}, err
	}
	env := variables{"PATH": searchPath}
	for _, entry := range root.Env {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	maps.Copy(env, vars)
	words, args := expandAll(c.spec.Command, vars), expandAll(c.spec.Args, vars)
	switch {
	case len(words) == 0 && len(args) == 0:
		words = slices.Concat(root.Entrypoint, root.Command)
	case len(words) == 0:
		words = slices.Concat(root.Entrypoint, args)
	default:
		words = append(words, args...)
	}
	if len(words) == 0 {
		return machine.Command{}, errNoCommand
	}
	volume, err := c.terminationLog()
	if err != nil {
		return machine.Command{}, err
	}
	return machine.Command{
		Path: words[0], Args: words[1:], Env: env.list(), Dir: cmp.Or(c.spec.WorkingDir, root.WorkingDir, "/"),
		Root: c.rootOf(root), Volumes: []machine.Volume{volume},
	}, nil
}

// rootOf applies the security contexts of pod and container to the image's root.
func (c *container) rootOf(root *runtime.RootFS) *machine.Root {
	r := &machine.Root{
		Dir: root.Dir, User: root.User, Capabilities: capabilitiesOf(nil),
		Files: map[string]string{"/etc/hosts": c.hosts(), "/etc/hostname": c.hostname() + "\n"},
	}
	if text := c.resolvConf(); text != "" {
		r.Files["/etc/resolv.conf"] = text
	}
	for _, group := range runtime.SupplementalGroups(c.pod) {
		r.Groups = append(r.Groups, uint32(group))
	}
	user, group := c.runAs()
	if user != nil {
		r.User = strconv.FormatInt(*user, 10)
	}
	if group != nil {
		name, _, _ := strings.Cut(r.User, ":")
		r.User = cmp.Or(name, "0") + ":" + strconv.FormatInt(*group, 10)
	}
	if s := c.spec.SecurityContext; s != nil {
		r.ReadOnly = s.ReadOnlyRootFilesystem != nil && *s.ReadOnlyRootFilesystem
		r.Privileged = s.Privileged != nil && *s.Privileged
		r.NoNewPrivileges = s.AllowPrivilegeEscalation != nil && !*s.AllowPrivilegeEscalation
		r.Capabilities = capabilitiesOf(s.Capabilities)
	}
	return r
}
