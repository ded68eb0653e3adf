package main

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/internal/input/strict"
)

// subjectFlags say, with the arguments, which driver is checked.
type subjectFlags struct {
	endpoint, controllerEndpoint string
	profile, binary              string
	name                         string
	single                       bool
	noController                 bool
	env                          pairsFlag
	startTimeout                 time.Duration
	parameters                   pairsFlag
	handle                       string
	attributes                   pairsFlag
	lifecycle                    []string
	podInfo                      bool
}

func (f *subjectFlags) addTo(flags *pflag.FlagSet) {
	flags.StringVar(&f.endpoint, "endpoint", "", "check the driver that serves at `ADDR` already, a unix socket")
	flags.StringVar(&f.controllerEndpoint, "controller-endpoint", "", "`ADDR` of its controller plugin (default that of --endpoint)")
	flags.StringVar(&f.profile, "profile", "", "check the well-known driver of this `NAME`, or of a YAML file: csisim profiles lists them")
	flags.StringVar(&f.binary, "binary", "", "`PATH` of its program (default its own name, looked for in PATH)")
	flags.StringVar(&f.name, "name", "", "the driver's `NAME` (default what GetPluginInfo answers)")
	flags.BoolVar(&f.single, "single", false, "one process is both the controller plugin and the plugin of the only node")
	flags.BoolVar(&f.noController, "no-controller", false, "the driver has no controller plugin")
	flags.Var(&f.env, "env", "`KEY=VALUE` for the driver's environment, a template too; may be repeated")
	flags.DurationVar(&f.startTimeout, "start-timeout", 0, "wall time that the driver has to answer (default 10s)")
	flags.Var(&f.parameters, "parameter", "`KEY=VALUE` among the StorageClass's parameters; may be repeated")
	flags.StringVar(&f.handle, "handle", "", "`ID` of the volume to check a driver with that makes none")
	flags.Var(&f.attributes, "attribute", "`KEY=VALUE` among the attributes of such a volume, and of inline volumes; may be repeated")
	flags.StringSliceVar(&f.lifecycle, "lifecycle", nil, "`MODE` of volumes in the CSIDriver object: Persistent, or Ephemeral for inline volumes; may be repeated (default Persistent, or the profile's)")
	flags.BoolVar(&f.podInfo, "pod-info", false, "podInfoOnMount in the CSIDriver object")
}

// subject is the driver that the flags and arguments name; dash is where the first --
// stood.
func (f *subjectFlags) subject(args []string, dash int) (check.Subject, error) {
	s := check.Subject{Parameters: f.parameters, Handle: f.handle, Attributes: f.attributes}
	s.Driver.Name, s.Driver.NoController = f.name, f.noController
	if err := f.csiDriver(&s); err != nil {
		return s, err
	}
	ways := f.ways(args)
	switch {
	case len(ways) == 0:
		return s, usage("no driver given: -- and the command that starts it, --profile and its name, or --endpoint and its socket")
	case len(ways) > 1:
		return s, usage("%s: one of them", strings.Join(ways, " and "))
	case len(args) > 0 && dash != 0:
		return s, usage("-- is missing before the driver's command %s", args[0])
	case f.controllerEndpoint != "" && f.endpoint == "":
		return s, usage("--controller-endpoint without --endpoint")
	case f.binary != "" && f.profile == "":
		return s, usage("--binary without --profile")
	case f.endpoint != "":
		return s, f.socket(&s.Driver)
	case f.profile != "":
		return s, f.wellKnown(&s)
	}
	return s, f.program(&s.Driver, args)
}

// csiDriver is what the flags say of the CSIDriver object.
func (f *subjectFlags) csiDriver(s *check.Subject) error {
	if len(f.lifecycle) == 0 && !f.podInfo {
		return nil
	}
	s.CSIDriver = &storagev1.CSIDriverSpec{PodInfoOnMount: &f.podInfo}
	for _, mode := range f.lifecycle {
		switch m := storagev1.VolumeLifecycleMode(mode); m {
		case storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral:
			s.CSIDriver.VolumeLifecycleModes = append(s.CSIDriver.VolumeLifecycleModes, m)
		default:
			return usage("--lifecycle %s: Persistent or Ephemeral", mode)
		}
	}
	if len(f.lifecycle) == 0 {
		s.CSIDriver.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
	return nil
}

// ways are how the driver is given: one is right.
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

// wellKnown is a driver that has a profile.
func (f *subjectFlags) wellKnown(s *check.Subject) error {
	read, err := profile.Load(f.profile, ".")
	if err != nil {
		return usage("--profile %s: %w", f.profile, err)
	}
	s.Driver.Profile, s.Driver.Binary = located(f.profile), located(f.binary)
	if s.CSIDriver != nil {
		return usage("--profile %s and --lifecycle or --pod-info: the profile has the CSIDriver object", f.profile)
	}
	s.CSIDriver = read.CSIDriver
	s.OneNode, s.MountOptions, s.VolumeSize = read.Single, read.StorageClass.MountOptions, read.VolumeSize
	parameters := maps.Clone(read.StorageClass.Parameters)
	if parameters == nil {
		parameters = map[string]string{}
	}
	maps.Copy(parameters, f.parameters)
	s.Parameters = parameters
	if read.SnapshotClass != nil {
		s.SnapshotParameters = read.SnapshotClass.Parameters
	}
	return nil
}

// located is where a path leads from everywhere: a scenario that is kept elsewhere
// still means it. Names without a slash are looked up as they are.
func located(path string) string {
	if !strings.Contains(path, "/") {
		return path
	}
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// socket is a driver that runs already.
func (f *subjectFlags) socket(d *scenario.Driver) error {
	node, err := socketPath("--endpoint", f.endpoint)
	if err != nil {
		return err
	}
	d.Socket = &scenario.Socket{Node: node, Controller: node}
	if f.controllerEndpoint != "" {
		d.Socket.Controller, err = socketPath("--controller-endpoint", f.controllerEndpoint)
	}
	return err
}

// socketPath is the path of unix:///path, unix:path or path.
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

// program is a driver that is started; a second -- begins the command of its
// controller plugin.
func (f *subjectFlags) program(d *scenario.Driver, args []string) error {
	p := &scenario.Program{Single: f.single, Env: f.env, StartTimeout: strict.Duration{Duration: f.startTimeout}}
	p.Command = slices.Clone(args)
	if at := slices.Index(args, "--"); at >= 0 {
		p.Command, p.ControllerCommand = slices.Clone(args[:at]), slices.Clone(args[at+1:])
		if len(p.Command) == 0 || len(p.ControllerCommand) == 0 {
			return usage("a command is missing before or after the second --")
		}
	}
	for _, command := range [][]string{p.Command, p.ControllerCommand} {
		if len(command) > 0 {
			command[0] = located(command[0])
		}
	}
	named := func(arg string) bool { return strings.Contains(arg, ".Driver}}") }
	if f.name == "" && slices.ContainsFunc(args, named) {
		return usage("{{.Driver}} in the driver's command takes --name: the driver cannot be asked before it is started")
	}
	d.Program = p
	return nil
}
