package scenario

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/sim"
)

// Driver is one CSI driver and how it is reached: exactly one of mock, profile, program and socket.
type Driver struct {
	Name         string                   `json:"name,omitempty" example:"mock.csi.csisim.dev" doc:"The driver's name, which GetPluginInfo must return; default for a program or a driver on a socket: its own answer."`
	Mock         *mock.Options            `json:"mock,omitempty" doc:"The reference driver in memory; {} for one with the usual capabilities."`
	Profile      string                   `json:"profile,omitempty" example:"hostpath" doc:"A well-known driver with a built-in profile that describes its start, or a YAML file with a profile, relative to this file."`
	Binary       string                   `json:"binary,omitempty" example:"bin/hostpathplugin" doc:"The program of the profile's driver; default the name in the profile, which is looked up in PATH."`
	Program      *Program                 `json:"program,omitempty" doc:"A driver program, started for each node and for the controller."`
	Socket       *Socket                  `json:"socket,omitempty" doc:"A driver that runs already."`
	Deploy       []string                 `json:"deploy,omitempty" example:"[deploy/kubernetes]" doc:"The driver's own manifests, relative to this file: files, folders, folders with a kustomization. On a real cluster they are applied unchanged. The simulation takes from them the CSIDriver object, the sidecars with their releases, flags and replicas, and the volumes of the driver's container; the driver itself is the mock, profile, program or socket."`
	NodeIDs      map[string]string        `json:"nodeIDs,omitempty" doc:"CSI node ids by node name; default the node's name."`
	Down         []string                 `json:"down,omitempty" example:"[node-a]" doc:"Nodes on which it is down until a start-driver step."`
	Plugins      []FurtherPlugin          `json:"plugins,omitempty" doc:"Further plugins on nodes, which serve the same driver at other endpoints; all are down until a start-driver step."`
	Later        bool                     `json:"later,omitempty" doc:"Installs nothing of the driver before an install-driver step: no plugins, sidecars or CSIDriver object."`
	Replicas     uint                     `json:"replicas,omitempty" example:"2" doc:"The number of replicas of the controller plugin, each with its sidecars. A sidecar works only while it holds its Lease, unless its flag leaderElection is false. Default 1."`
	NoNode       bool                     `json:"noNode,omitempty" doc:"Leaves out the node plugins."`
	NoController bool                     `json:"noController,omitempty" doc:"Leaves out the controller plugin."`
	Sidecars     sim.Sidecars             `json:"sidecars,omitzero" doc:"Flags of its sidecars that are not the defaults."`
	CSIAddons    []sim.AddonsSidecar      `json:"csiAddons,omitempty" doc:"Its sidecars of CSI-Addons; default one beside each plugin of a mock that serves CSI-Addons."`
	CSIDriver    *CSIDriver               `json:"csiDriver,omitempty" example:"{podInfoOnMount: true}" doc:"The spec of its CSIDriver object; default attachRequired according to its capabilities."`
	NoCSIDriver  bool                     `json:"noCSIDriver,omitempty" doc:"Makes no CSIDriver object; none is made either if objects have one."`
	External     []externalName           `json:"external,omitempty" doc:"Its sidecars that run outside csisim and use csisim up and the driver's sockets; csisim does not start its own ones."`
	Version      string                   `json:"version,omitempty" example:"v1" doc:"The release among versions that is installed first; default the release described here, with the name program."`
	Versions     map[string]DriverVersion `json:"versions,omitempty" example:"{v2: {program: {command: [bin/hostdir-v2, '--endpoint={{.Endpoint}}']}}}" doc:"Releases of the driver by their names, for the step upgrade-driver."`

	profile *profile.Profile // named by Profile
	own     *deploy.Own      // read from Deploy; nil for none
	unknown []string         // sidecars and flags in Deploy that the simulation does not support
}

// Program describes how a driver program is started. A path that begins with ./ or ../ is relative
// to the scenario's file; any other program is looked up in PATH, then in the working directory.
type Program struct {
	Command           []string          `json:"command" want:"required" example:"[bin/hostdir, '--endpoint={{.Endpoint}}']" doc:"The program and its arguments, templates with {{.Endpoint}} {{.Socket}} {{.NodeID}} {{.NodeName}} {{.StateDir}} {{.NodeStateDir}} {{.KubeletDir}} {{.Driver}} {{.Mode}} {{.Cluster}} {{.AddonsEndpoint}} {{.AddonsSocket}} {{.ServiceURL}}."`
	ControllerCommand []string          `json:"controllerCommand,omitempty" doc:"Starts the controller plugin; default command."`
	Single            bool              `json:"single,omitempty" doc:"One process is both the controller plugin and the plugin of the only node."`
	Optional          bool              `json:"optional,omitempty" doc:"If the program is not found, csisim run does not try the scenario: it neither passes nor fails. If no scenario of a command can be tried, the exit code is 3."`
	Env               map[string]string `json:"env,omitempty" doc:"Added to the environment; the values are templates, too."`
	NodePaths         []string          `json:"nodePaths,omitempty" example:"[/var/lib/my-driver]" doc:"Directories of the node that its container mounts (hostPath): files there outlive the container. Files elsewhere are lost when it restarts, except below {{.KubeletDir}}, {{.StateDir}}, {{.NodeStateDir}} and directories of --host-path."`
	PluginSocket      string            `json:"pluginSocket,omitempty" example:"/run/my-driver/csi.sock" doc:"The socket at which it serves regardless of its flags; a driver that serves at /csi/csi.sock needs none."`
	AddonsSocket      string            `json:"addonsSocket,omitempty" example:"/csi/csi-addons.sock" doc:"The socket at which it serves CSI-Addons, in the directory of its CSI socket; default the CSI socket, or {{.AddonsSocket}} if the command has that."`
	StartTimeout      strict.Duration   `json:"startTimeout,omitempty" default:"10s" doc:"The wall time that it may take until its first answer."`
	Memory            resource.Quantity `json:"memory,omitzero" default:"2Gi" doc:"The memory limit of each of its processes that csisim starts; a process above it is killed."`
	Capabilities      []string          `json:"capabilities,omitempty" enum:"DAC_READ_SEARCH|SYS_BOOT|SYS_TIME" doc:"Capabilities of Linux that programs have only if they are named here, because they reach beyond the node."`
	StandIns          profile.StandIns  `json:"standIns,omitzero" doc:"Stand-ins for services that the driver needs beside Kubernetes."`
}

// Socket names the unix sockets of a driver that already runs.
type Socket struct {
	Controller string            `json:"controller,omitempty" example:"/run/csi/controller.sock" doc:"The controller plugin's socket."`
	Nodes      map[string]string `json:"nodes,omitempty" doc:"The node plugins' sockets by node name."`
	Node       string            `json:"node,omitempty" doc:"The node plugin's socket in a cluster of one node."`
	Addons     string            `json:"addons,omitempty" doc:"The socket at which its plugins serve CSI-Addons; default their own."`
}

// Lives reports whether only csisim up can run the scenario. External components and programs in
// containers need the API and the real clock.
func (s *Scenario) Lives() bool {
	return len(s.Images) > 0 || slices.ContainsFunc(s.Drivers, func(d Driver) bool { return len(d.External) > 0 })
}

// MayLack reports whether the scenario may be skipped if a driver's program is missing. err is the
// error of the run.
func (s *Scenario) MayLack(err error) bool {
	return errors.Is(err, program.ErrNotFound) && slices.ContainsFunc(s.Drivers, func(d Driver) bool { return d.Program != nil && d.Program.Optional })
}

// HasPrograms reports whether the run starts programs, which mount and may leave processes behind.
func (s *Scenario) HasPrograms() bool {
	return s.Lives() || slices.ContainsFunc(s.Drivers, func(d Driver) bool { return d.Program != nil })
}

// driverNamed returns the driver with a name. If there is only one driver, "" also selects it.
func (s *Scenario) driverNamed(name string) Driver {
	i := slices.IndexFunc(s.Drivers, func(d Driver) bool { return d.name() == name })
	return s.Drivers[max(0, i)]
}

// isSingle reports whether one process is both the controller plugin and the plugin of the only
// node.
func (d Driver) isSingle() bool {
	return d.Program != nil && d.Program.Single || d.profile != nil && d.profile.Single
}

// hasController reports whether the driver has a controller plugin, according to the scenario, its
// profile and its own manifests.
func (d Driver) hasController() bool {
	return !d.NoController && (d.profile == nil || !d.profile.NoController) && (d.own == nil || d.own.HasController())
}

// name returns the driver's name if the file contains it.
func (d Driver) name() string {
	switch {
	case d.Mock != nil:
		return cmp.Or(d.Name, d.Mock.Name)
	case d.profile != nil:
		return cmp.Or(d.Name, d.profile.Driver)
	}
	return d.Name
}

// standIns returns the stand-ins of its profile or its program.
func (d Driver) standIns() profile.StandIns {
	switch {
	case d.profile != nil:
		return d.profile.StandIns
	case d.Program != nil:
		return d.Program.StandIns
	}
	return profile.StandIns{}
}

// options returns the driver for the simulator; dir is the directory of the scenario's file.
func (d Driver) options(dir string) sim.Driver {
	var o sim.Driver
	if d.profile != nil {
		o = d.profile.Install(d.Name, d.Binary)
		o.Program.Command = located(o.Program.Command, dir)
		o.Program.ControllerCommand = located(o.Program.ControllerCommand, dir)
	}
	o.Name, o.NodeIDs, o.Down = d.name(), d.NodeIDs, d.Down
	o.Further, o.Later = d.furtherPlugins(), d.Later
	o.Sidecars, o.Addons = d.Sidecars, d.CSIAddons
	if d.profile != nil && d.Sidecars.Provisioner.ExtraCreateMetadata == nil {
		o.Sidecars.Provisioner.ExtraCreateMetadata = &d.profile.ExtraCreateMetadata
	}
	if d.Sidecars.ClusterRegistrar != nil {
		o.CSIDriver = nil // the sidecar creates it
	}
	o.Replicas = int(d.Replicas)
	o.NoNode, o.NoController, o.NoCSIDriver = d.NoNode, d.NoController || o.NoController, d.NoCSIDriver
	if d.CSIDriver != nil {
		o.CSIDriver = d.CSIDriver.spec.DeepCopy()
	}
	d.ownOptions(&o)
	o.Version, o.Deployments = d.Version, d.deployments()
	for _, name := range d.External {
		o.External = append(o.External, sim.Sidecar(name))
	}
	switch {
	case d.Mock != nil:
		options := *d.Mock
		options.Name = d.name()
		o.Mock, o.MockVersions = &options, d.mocks()
	case d.Program != nil:
		o.Program = &sim.Program{
			Command: located(d.Program.Command, dir), ControllerCommand: located(d.Program.ControllerCommand, dir),
			Single: d.Program.Single, Env: d.Program.Env, PluginSocket: d.Program.PluginSocket, NodePaths: d.Program.NodePaths, AddonsSocket: d.Program.AddonsSocket, StartTimeout: d.Program.StartTimeout.Duration, Memory: d.Program.Memory.Value(), Capabilities: d.Program.Capabilities,
		}
		o.StandIns = d.Program.StandIns.Make(dir)
	case d.Socket != nil:
		o.Socket = &sim.Socket{Controller: d.Socket.Controller, Nodes: d.Socket.Nodes, Node: d.Socket.Node, Addons: d.Socket.Addons}
	}
	if o.Program != nil {
		o.Program.Versions = d.programs(dir)
	}
	if o.Program != nil && d.own != nil {
		o.Program.NodeVolumes, o.Program.ControllerVolumes = d.own.Volumes("node"), d.own.Volumes("controller")
	}
	return o
}

// located replaces the program of a command by its path. A program that is not found stays
// unchanged, so that starting it reports the error.
func located(command []string, dir string) []string {
	if len(command) == 0 {
		return nil
	}
	program := command[0]
	_, err := exec.LookPath(program)
	switch {
	case filepath.IsAbs(program):
	case strings.HasPrefix(program, "./") || strings.HasPrefix(program, "../"):
		program = absolute(filepath.Join(dir, program))
	case strings.Contains(program, "/") || err != nil && exists(program):
		program = absolute(program)
	}
	return append([]string{program}, command[1:]...)
}

func exists(name string) bool { _, err := os.Stat(name); return err == nil }

// absolute makes a path relative to the working directory absolute.
func absolute(name string) string {
	if full, err := filepath.Abs(name); err == nil {
		return full
	}
	return name
}
