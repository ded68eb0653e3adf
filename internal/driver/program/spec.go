// Package program starts external CSI drivers: programs of the user that serve CSI on a socket of a
// node. Unlike the simulated parts, it runs in wall time.
package program

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/csisim/csisim/internal/world/machine"
)

// Spec describes a program that serves a driver on a node. Command, Env and Dir are Go templates
// over Fields.
type Spec struct {
	// Driver is the name that the driver must answer in GetPluginInfo. Default: any.
	Driver string
	// NodeName is the node's name in the cluster. It is part of the log's name.
	NodeName string
	// Cluster is the cluster of the node, if a run has several. Default: none.
	Cluster string
	// NodeID is the node's CSI id. Default: NodeName.
	NodeID string
	// Mode is the half of the driver that this instance serves: "controller" or "node".
	Mode string
	// Command is the program and its arguments. A bare name is looked up in PATH. A relative path
	// starts at csisim's own working directory.
	Command []string
	// Env is added to csisim's own environment and overrides it.
	Env map[string]string
	// Dir is the working directory, a path of the node. Default: the kubelet's directory.
	Dir string
	// Socket is the socket at which the driver has to serve, as a path on the node.
	Socket string
	// AddonsSocket is the socket at which it has to serve CSI-Addons, in addition to Socket.
	// Default: Socket.
	AddonsSocket string
	// ServesAt is the path, in the program's view, at which it serves with any flags. It has the
	// same base name as Socket. Default: the path in its flags, or a path in /csi.
	ServesAt string
	// StateDir is a directory of the host that all instances of the driver share. It outlives them.
	// NodeStateDir is a directory on the disk of one node, for the instances on that node. A
	// power-off loses unsynced writes there. Both are made if missing.
	StateDir, NodeStateDir string
	// NodePaths lists directories of the node that the driver's container mounts: they outlive the
	// container. A restart discards files that the program creates elsewhere.
	NodePaths []string
	// ServiceURL is the address at which the program reaches a stand-in for its service. Default:
	// there is none.
	ServiceURL string
	// Volumes are the volumes of the driver's container. EmptyDirs is the directory of the host
	// that contains the emptyDirs. Default: all of the kubelet's directory, with Bidirectional
	// propagation.
	Volumes   []Volume
	EmptyDirs string
	// Ended is called, on its own thread, whenever an instance has ended. Default: none.
	Ended func(*machine.Process)
	// LogDir is the directory of the host for <driver>-<node>-<n>.log, one file for
	// each instance, with both its standard output and error.
	LogDir string
	// StartTimeout bounds the wall time until the program answers. Default: 10 s.
	StartTimeout time.Duration
	// Memory bounds the memory of the program, in bytes. It is killed if it uses more. Default: 2
	// GiB.
	Memory int64
	// Capabilities are as in machine.Command.
	Capabilities []string
	// SeesLookups is as in machine.Command.
	SeesLookups bool
}

const (
	defaultStartTimeout = 10 * time.Second
	defaultMemory       = 2 << 30
)

// Fields are the variables of templates. All paths are in the view of the program.
type Fields struct {
	Endpoint       string // the socket as unix:///path
	Socket         string // the socket as a plain path
	AddonsEndpoint string // the socket of CSI-Addons as unix:///path
	AddonsSocket   string // the same as a plain path
	NodeID         string // the node's CSI id
	NodeName       string // the node's name in the cluster
	StateDir       string // shared by all instances of the driver, survives restarts
	NodeStateDir   string // directory of this node only; survives restarts
	KubeletDir     string // the directory of the node's kubelet, by default /var/lib/kubelet
	Driver         string // the driver's name
	Mode           string // "controller" or "node"
	Cluster        string // the name of the cluster, if the run has several
	ServiceURL     string // the address of the stand-in for an HTTP service: http://127.0.0.1:12345
}

func fieldNames() string {
	return "Endpoint, Socket, NodeID, NodeName, StateDir, NodeStateDir, KubeletDir, Driver, Mode, Cluster, AddonsEndpoint, AddonsSocket, ServiceURL"
}

func (s Spec) fields(m machine.Machine) Fields {
	socket, addons := m.ProgramPath(s.Socket), m.ProgramPath(cmp.Or(s.AddonsSocket, s.Socket))
	return Fields{
		Endpoint: "unix://" + socket, Socket: socket, NodeID: s.NodeID, NodeName: s.NodeName,
		StateDir: s.StateDir, NodeStateDir: s.NodeStateDir, KubeletDir: m.ProgramPath(m.Layout().KubeletDir()), Driver: s.Driver, Mode: s.Mode, Cluster: s.Cluster,
		AddonsEndpoint: "unix://" + addons, AddonsSocket: addons, ServiceURL: s.ServiceURL,
	}
}

// command fills the templates in.
func (s Spec) command(m machine.Machine) (machine.Command, error) {
	if len(s.Command) == 0 {
		return machine.Command{}, fmt.Errorf("command: it is empty, want the program and its arguments")
	}
	fields := s.fields(m)
	var filled []string
	for i, text := range s.Command {
		word, err := fill(fmt.Sprintf("command word %d", i+1), text, fields)
		if err != nil {
			return machine.Command{}, err
		}
		filled = append(filled, word)
	}
	c := machine.Command{Path: filled[0], Args: filled[1:]}
	for _, name := range slices.Sorted(maps.Keys(s.Env)) {
		value, err := fill("environment variable "+name, s.Env[name], fields)
		if err != nil {
			return machine.Command{}, err
		}
		c.Env = append(c.Env, name+"="+value)
	}
	var err error
	c.Dir, err = fill("working directory", s.Dir, fields)
	return c, err
}

func fill(what, text string, fields Fields) (string, error) {
	parsed, err := template.New(what).Parse(text)
	if err != nil {
		return "", fmt.Errorf("%s %q: %w", what, text, err)
	}
	var filled strings.Builder
	if err := parsed.Execute(&filled, fields); err != nil {
		return "", fmt.Errorf("%s %q: %w; known fields: %s", what, text, err, fieldNames())
	}
	return filled.String(), nil
}

// makeDirs creates the host directories and makes their paths absolute, because the program runs in
// another directory.
func (s *Spec) makeDirs() error {
	for _, dir := range []*string{&s.StateDir, &s.NodeStateDir, &s.LogDir} {
		if *dir == "" {
			continue
		}
		absolute, err := filepath.Abs(*dir)
		if err != nil {
			return err
		}
		*dir = absolute
		if err := os.MkdirAll(absolute, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// logFile returns the log file of the n-th instance.
func (s Spec) logFile(n int) string {
	name := fmt.Sprintf("%s-%s-%d.log", cmp.Or(s.Driver, "driver"), s.NodeName, n)
	return filepath.Join(s.LogDir, strings.ReplaceAll(name, "/", "_"))
}

// socketDir returns the directory of the driver's socket on the node.
func (s Spec) socketDir() string { return path.Dir(path.Clean(s.Socket)) }

// Asks reports whether templates of commands or of the environment refer to a field, given by a
// prefix of its name.
func Asks(field string, env map[string]string, commands ...[]string) bool {
	words := slices.Concat(append(commands, slices.Collect(maps.Values(env)))...)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(word, "."+field) })
}
