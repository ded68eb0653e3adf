package main

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/sim"
)

// subjectFlags select, with the arguments, the driver that is checked.
type subjectFlags struct {
	endpoint, controllerEndpoint string
	profile, binary              string
	save                         string
	name                         string
	single                       bool
	nodeOnly                     bool
	env                          pairsFlag
	pluginSocket                 string
	nodePaths                    []string
	capabilities                 []string
	addonsEndpoint               string
	startTimeout                 time.Duration
	memory                       string
	deploy                       []string
	kubeletDir                   string
	volumes                      volumeFlags
}

func (f *subjectFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.endpoint, "endpoint", "", "check the running driver at `ADDR`, a unix socket")
	flags.StringVar(&f.controllerEndpoint, "controller-endpoint", "", "`ADDR` of its controller plugin (default: --endpoint)")
	flags.StringVar(&f.addonsEndpoint, "addons-endpoint", "", "`ADDR` at which it serves CSI-Addons, for a command in the driver's view (default: the CSI endpoint, or {{.AddonsEndpoint}} of the command)")
	flags.StringVar(&f.profile, "profile", "", "check the well-known driver with this `NAME` (csisim profiles lists them), or the driver of a profile in a YAML file")
	flags.StringVar(&f.binary, "binary", "", "`PATH` of its program (default: the name in the profile, in PATH)")
	flags.StringVar(&f.save, "save", "", "write the flags that describe the driver to `FILE`, a profile for --profile")
	flags.StringVar(&f.name, "name", "", "the driver's `NAME` (default the answer of GetPluginInfo)")
	flags.BoolVar(&f.single, "single", false, "one process is both the controller plugin and the plugin of the only node")
	flags.BoolVar(&f.nodeOnly, "node-only", false, "the driver has no controller plugin")
	flags.Var(&f.env, "env", "`KEY=VALUE` for the driver's environment, also a template; may be repeated")
	flags.StringVar(&f.pluginSocket, "plugin-socket", "", "`PATH` at which the driver serves regardless of its flags; not needed for /csi/csi.sock")
	flags.StringArrayVar(&f.capabilities, "capability", nil, "let the driver have the capability `NAME`: "+strings.Join(machine.Withheld, ", ")+"; may be repeated")
	flags.StringArrayVar(&f.nodePaths, "node-path", nil, "`DIR` of the node that the driver's container mounts: files there outlive the container; may be repeated")
	flags.DurationVar(&f.startTimeout, "start-timeout", 0, "wall time in which the driver must answer (default 10s)")
	flags.StringVar(&f.memory, "memory", "", "`SIZE` of memory above which a process of the driver is killed (default 2Gi)")
	flags.StringArrayVar(&f.deploy, "deploy", nil, "take the CSIDriver object, sidecars and container volumes from the driver's own manifests at `PATH`, a file or a folder; may be repeated")
	flags.StringVar(&f.kubeletDir, "kubelet-dir", "", "`PATH` of the kubelet's directory, or paths with a symlink as in a scenario's kubeletDir (default /var/lib/kubelet)")
	f.volumes.addTo(flags)
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "no-controller" {
			name = "node-only"
		}
		return pflag.NormalizedName(name)
	})
}

// subject returns the driver that the flags and arguments name, and its profile. The profile is nil
// for a running driver. dash is the position of the first --.
func (f *subjectFlags) subject(args []string, dash int) (check.Subject, *profile.Profile, error) {
	s := check.Subject{}
	s.Driver.Name, s.Driver.NoController = f.name, f.nodeOnly
	if err := f.checkWays(args, dash); err != nil {
		return s, nil, err
	}
	var p *profile.Profile
	var err error
	switch {
	case f.endpoint != "":
		p = &profile.Profile{}
		err = f.socket(&s.Driver)
	case f.profile != "":
		p, err = f.wellKnown(&s)
	default:
		p, err = f.program(&s.Driver, args)
	}
	if err == nil {
		err = f.volumes.amend(p)
	}
	if err == nil {
		err = takeVolumes(&s, p)
	}
	if err == nil {
		err = f.takeManifests(&s)
	}
	if err == nil {
		err = f.takeKubeletDir(&s)
	}
	return s, p, err
}

// takeKubeletDir reads the directory of the kubelets.
func (f *subjectFlags) takeKubeletDir(s *check.Subject) (err error) {
	if f.kubeletDir == "" {
		return nil
	}
	if s.KubeletDir, err = scenario.ParseKubeletDir(f.kubeletDir); err != nil {
		return usage("--kubelet-dir %s: %w", f.kubeletDir, err)
	}
	return nil
}

// checkWays rejects flags and arguments that exclude each other.
func (f *subjectFlags) checkWays(args []string, dash int) error {
	ways := f.ways(args)
	switch {
	case len(ways) == 0:
		return usage("no driver given: -- and the command that starts it, --profile and its name, or --endpoint and its socket")
	case len(ways) > 1:
		return usage("%s: one of them", strings.Join(ways, " and "))
	case len(args) > 0 && dash != 0:
		return usage("-- is missing before the driver's command %s", args[0])
	case f.controllerEndpoint != "" && f.endpoint == "":
		return usage("--controller-endpoint without --endpoint")
	case f.addonsEndpoint != "" && f.profile != "":
		return usage("--addons-endpoint and --profile: a profile says it by addonsSocket")
	case f.binary != "" && f.profile == "":
		return usage("--binary without --profile")
	case f.save != "" && f.endpoint != "":
		return usage("--save and --endpoint: a profile says how a driver is started, and this one runs already")
	}
	for _, flag := range []struct {
		name  string
		given bool
	}{{"--single", f.single}, {"--env", len(f.env) > 0}, {"--plugin-socket", f.pluginSocket != ""}, {"--node-path", len(f.nodePaths) > 0}, {"--start-timeout", f.startTimeout != 0}, {"--memory", f.memory != ""}, {"--capability", len(f.capabilities) > 0}} {
		if flag.given && len(args) == 0 {
			return usage("%s and %s: it goes with the command that starts a driver", flag.name, ways[0])
		}
	}
	return nil
}

// ways lists the ways in which the command line names the driver. Exactly one of them must be used.
func (f *subjectFlags) ways(args []string) (found []string) {
	if f.endpoint != "" {
		found = append(found, "--endpoint")
	}
	if f.profile != "" {
		found = append(found, "--profile")
	}
	if len(args) > 0 {
		found = append(found, "the command "+args[0])
	}
	return found
}

// takeManifests reads the driver's own manifests.
func (f *subjectFlags) takeManifests(s *check.Subject) error {
	if len(f.deploy) == 0 {
		return nil
	}
	switch {
	case f.endpoint != "":
		return usage("--deploy and --endpoint: csisim does not start the driver on the socket")
	case f.save != "":
		return usage("--deploy and --save: a profile has no manifests")
	case f.volumes.describesCSIDriver():
		return usage("--deploy and --lifecycle, --pod-info, --fs-group-policy or --token-request: the manifests have the CSIDriver object")
	case f.volumes.extraCreateMetadata:
		return usage("--deploy and --extra-create-metadata: the manifests have the flags of csi-provisioner")
	}
	own, err := deploy.ReadOwn(".", f.deploy)
	if err != nil {
		return usage("--deploy: %w", err)
	}
	s.Driver.Sidecars = sim.Sidecars{}
	for _, path := range f.deploy {
		s.Driver.Deploy = append(s.Driver.Deploy, located("./"+path))
		if filepath.IsAbs(path) {
			s.Driver.Deploy[len(s.Driver.Deploy)-1] = path
		}
	}
	if own.CSIDriver != nil {
		s.CSIDriver = &own.CSIDriver.Spec
		if s.Driver.Name == "" {
			s.Driver.Name = own.CSIDriver.Name
		}
	}
	for _, name := range []sim.Sidecar{sim.Provisioner, sim.Attacher, sim.Resizer, sim.Snapshotter} {
		if !slices.Contains(own.Sidecars(), string(name)) {
			s.Lacks = append(s.Lacks, name)
		}
	}
	return nil
}

// wellKnown returns the profile of a known driver.
func (f *subjectFlags) wellKnown(s *check.Subject) (*profile.Profile, error) {
	p, err := profile.Load(f.profile, ".")
	if err != nil {
		return nil, usage("--profile %s: %w", f.profile, err)
	}
	s.Driver.Profile, s.Driver.Binary = located(f.profile), located(f.binary)
	s.Driver.NoController = f.nodeOnly || p.NoController
	s.OneNode = p.Single
	return p, nil
}

// located makes a path absolute, so that a scenario kept in another directory can use it. A name
// without a slash is looked up in PATH and stays unchanged.
func located(path string) string {
	if !strings.Contains(path, "/") {
		return path
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// socket sets up a running driver.
func (f *subjectFlags) socket(d *scenario.Driver) error {
	node, err := socketPath("--endpoint", f.endpoint)
	if err != nil {
		return err
	}
	d.Socket = &scenario.Socket{Node: node, Controller: node}
	if f.controllerEndpoint != "" {
		d.Socket.Controller, err = socketPath("--controller-endpoint", f.controllerEndpoint)
	}
	if err == nil && f.addonsEndpoint != "" {
		d.Socket.Addons, err = socketPath("--addons-endpoint", f.addonsEndpoint)
	}
	return err
}

// socketPath returns the path in unix:///path, unix:path or path.
func socketPath(flag, address string) (string, error) {
	scheme, rest, given := strings.Cut(address, ":")
	switch {
	case !given:
		return address, nil
	case scheme != "unix":
		return "", usage("%s %s: only unix sockets can be reached, such as unix:///run/csi/csi.sock", flag, address)
	case strings.TrimPrefix(rest, "//") == "":
		return "", usage("%s %s: the path is missing", flag, address)
	}
	return strings.TrimPrefix(rest, "//"), nil
}

// program sets up a driver that csisim starts. A second -- is followed by the command of its
// controller plugin.
func (f *subjectFlags) program(d *scenario.Driver, args []string) (*profile.Profile, error) {
	p := &scenario.Program{Single: f.single, Env: f.env, PluginSocket: f.pluginSocket, NodePaths: f.nodePaths, Capabilities: f.capabilities, StartTimeout: strict.Duration{Duration: f.startTimeout}}
	if f.memory != "" {
		var err error
		if p.Memory, err = resource.ParseQuantity(f.memory); err != nil || p.Memory.Sign() <= 0 {
			return nil, usage("--memory %s: it must be a size such as 4Gi", f.memory)
		}
	}
	p.Command = slices.Clone(args)
	if at := slices.Index(args, "--"); at >= 0 {
		p.Command, p.ControllerCommand = slices.Clone(args[:at]), slices.Clone(args[at+1:])
		if len(p.Command) == 0 || len(p.ControllerCommand) == 0 {
			return nil, usage("a command is missing before or after the second --")
		}
	}
	if !profile.IsSocket(f.pluginSocket) {
		return nil, usage("--plugin-socket %s: want %s", f.pluginSocket, profile.WantedSocket)
	}
	for _, name := range f.capabilities {
		if !slices.Contains(machine.Withheld, name) {
			return nil, usage("--capability: %w", unknown("capability", name, machine.Withheld))
		}
	}
	for _, dir := range f.nodePaths {
		if !profile.IsNodePath(dir) {
			return nil, usage("--node-path %s: want %s", dir, profile.WantedNodePath)
		}
	}
	if f.addonsEndpoint != "" {
		var err error
		if p.AddonsSocket, err = socketPath("--addons-endpoint", f.addonsEndpoint); err != nil {
			return nil, err
		}
		if !profile.IsSocket(p.AddonsSocket) {
			return nil, usage("--addons-endpoint %s: want %s", f.addonsEndpoint, profile.WantedSocket)
		}
	}
	for _, command := range [][]string{p.Command, p.ControllerCommand} {
		if len(command) > 0 {
			command[0] = located(command[0])
		}
	}
	named := func(arg string) bool { return strings.Contains(arg, ".Driver}}") }
	if f.name == "" && slices.ContainsFunc(args, named) {
		return nil, usage("{{.Driver}} in the driver's command needs --name: csisim cannot query the driver before it is started")
	}
	d.Program = p
	return profileOf(p, f.nodeOnly), nil
}

// profileOf describes a program as a profile. All modes are allowed, since the driver's support for
// them is unknown.
func profileOf(program *scenario.Program, nodeOnly bool) *profile.Profile {
	p := &profile.Profile{
		Arguments: program.Command[1:], Env: program.Env, Single: program.Single, NoController: nodeOnly,
		PluginSocket: program.PluginSocket, NodePaths: program.NodePaths, AddonsSocket: program.AddonsSocket, StartTimeout: program.StartTimeout, Memory: program.Memory, Capabilities: program.Capabilities,
		VolumeModes: slices.Clone(volumeModes), AccessModes: slices.Clone(accessModes),
	}
	p.Binary.Name = program.Command[0]
	if controller := program.ControllerCommand; len(controller) > 0 {
		p.ControllerArguments = controller[1:]
		if controller[0] != p.Binary.Name {
			p.ControllerBinary.Name = controller[0]
		}
	}
	return p
}
