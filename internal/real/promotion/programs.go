package promotion

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/sim"
)

// mockPort is the port of the backend of the reference driver in memory, for nodes.
const mockPort = 9809

// mockOrders is the port on which this backend receives orders from a run.
const mockOrders = 9810

// nodeName stands for the name of the pod's node in a container's command.
const nodeName = "$(NODE_NAME)"

// addMock adds the programs of the reference driver in memory.
func addMock(d *deploy.Driver, i installed, slug string, o deploy.Options) error {
	m := *i.Mock
	m.Name = d.Name
	options, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("options of driver %s: %w", d.Name, err)
	}
	d.Port, d.Apart = mockPort, true
	d.Backend = &deploy.Program{Command: []string{Self, "mock", "--backend", fmt.Sprintf(":%d", mockPort), "--options", string(options)}}
	if o.Proxy != "" { // the token for orders
		d.Orders = mockOrders
		d.Backend.Command = append(d.Backend.Command, "--orders", fmt.Sprintf(":%d", mockOrders))
	}
	d.Controller = &deploy.Program{Command: []string{Self, "mock", "--socket", o.Endpoint("controller"), "--backend", fmt.Sprintf("127.0.0.1:%d", mockPort)}}
	d.Node = &deploy.Program{Command: []string{
		Self, "mock", "--socket", o.Endpoint("node"), "--backend", fmt.Sprintf("%s.%s.svc:%d", slug, cmp.Or(o.Namespace, deploy.Namespace), mockPort),
		"--node-id", nodeName, "--host", "$(POD_IP)", "--volumes", deploy.State + "/volumes/" + slug,
	}}
	if zones := zonesFlag(i); zones != "" {
		d.Node.Command = append(d.Node.Command, "--zones", zones)
	}
	return nil
}

// zonesFlag returns the zones of all nodes, because their plugins share one command; empty for a
// driver without topology.
func zonesFlag(i installed) string {
	if !i.Mock.Topology {
		return ""
	}
	var all []string
	for _, node := range slices.Sorted(maps.Keys(i.zones)) {
		all = append(all, node+"="+i.zones[node])
	}
	return strings.Join(all, ",")
}

// addProgram adds a driver program as both plugins.
func addProgram(d *deploy.Driver, i installed, slug string, o deploy.Options, files map[string]string) error {
	p := i.Program
	if p.PluginSocket != "" {
		return &sim.ConfigError{Subject: fmt.Sprintf("driver %q", i.Name), Problem: "a program that serves at a socket of its own choice (pluginSocket) is not put into a pod yet: name its manifests"}
	}
	controller := p.ControllerCommand
	if len(controller) == 0 {
		controller = p.Command
	}
	d.Shared, d.SharedAt = SharedState, stateDir
	var err error
	if d.Node, err = container(i, p.Command, "node", slug, o, files); err != nil {
		return err
	}
	d.Controller, err = container(i, controller, "controller", slug, o, files)
	return err
}

// container returns a program's command with its templates filled in for a pod.
func container(i installed, command []string, mode, slug string, o deploy.Options, files map[string]string) (*deploy.Program, error) {
	binary, err := exec.LookPath(command[0])
	if err != nil {
		return nil, &sim.EnvironmentError{Doing: "find the program of driver " + i.Name, Err: err}
	}
	at := "/driver/" + filepath.Base(binary)
	files[at] = binary
	socket := o.Endpoint(mode)
	fields := program.Fields{
		Endpoint: "unix://" + socket, Socket: socket, NodeName: nodeName, StateDir: stateDir + "/" + i.Name,
		NodeStateDir: deploy.State + "/node/" + slug + "-" + mode, KubeletDir: machine.KubeletDir, Driver: i.Name, Mode: mode,
	}
	if mode == "node" {
		fields.NodeID = nodeName
	}
	made := &deploy.Program{Command: []string{at}, Env: map[string]string{}}
	for _, argument := range command[1:] {
		filled, err := fill(argument, fields)
		if err != nil {
			return nil, err
		}
		made.Command = append(made.Command, filled)
	}
	for name, value := range i.Program.Env {
		if made.Env[name], err = fill(value, fields); err != nil {
			return nil, err
		}
	}
	return made, nil
}

func fill(text string, fields program.Fields) (string, error) {
	parsed, err := template.New("").Parse(text)
	if err != nil {
		return "", err // reading the scenario has already reported this
	}
	var out bytes.Buffer
	err = parsed.Execute(&out, fields)
	return out.String(), err
}
