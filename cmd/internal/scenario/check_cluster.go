package scenario

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/template"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim"
)

func (c *checker) checkNodes() {
	lines := map[string]int{}
	for i, n := range c.scenario.Cluster.Nodes {
		c.at(strict.Index(c.path, i), func() {
			c.dnsName("name", n.Name)
			c.once("name", "node", n.Name, lines)
			c.checkLabels("labels", n.Labels)
			c.checkMigration("migration", n.Migration)
			if n.Kubernetes != 0 {
				c.versions.nodes[n.Name] = version.Version(n.Kubernetes)
				c.checkSkew("kubernetes", version.Version(n.Kubernetes))
			}
			for j, t := range n.Taints {
				c.at(strict.Index(c.in("taints"), j), func() { c.checkTaint(t) })
			}
			if n.MaxPods < 0 {
				c.report("maxPods", fmt.Sprintf("number %d", n.MaxPods), "a number from 1; 0 is the default, 110")
			}
		})
	}
}

// once reports a name that was used before.
func (c *checker) once(field, kind, name string, lines map[string]int) {
	if name == "" {
		return
	}
	if line, taken := lines[name]; taken {
		c.report(field, fmt.Sprintf("%s %q a second time", kind, name), fmt.Sprintf("each name once (it is in line %d)", line))
		return
	}
	lines[name] = c.document.Positions.At(c.in(field)).Line
}

func (c *checker) dnsName(field, name string) {
	if name != "" && len(validation.IsDNS1123Subdomain(name)) > 0 {
		c.report(field, fmt.Sprintf("name %q", name), `lower-case letters, digits, - and ., such as "node-a"`)
	}
}

func (c *checker) checkLabels(field string, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		path := strict.Key(c.in(field), key)
		if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
			c.document.Report(path, fmt.Sprintf("label key %q", key), `a key such as "disk" or "example.com/disk"`)
		}
		if wrong := validation.IsValidLabelValue(labels[key]); len(wrong) > 0 {
			c.document.Report(path, fmt.Sprintf("label value %q", labels[key]), "at most 63 letters, digits, -, _ and ., with a letter or digit at both ends")
		}
	}
}

func (c *checker) checkTaint(t Taint) {
	if wrong := validation.IsQualifiedName(t.Key); t.Key != "" && len(wrong) > 0 {
		c.report("key", fmt.Sprintf("taint key %q", t.Key), `a key such as "maintenance" or "example.com/maintenance"`)
	}
}

func (c *checker) checkDrivers() {
	lines := map[string]int{}
	for i := range c.scenario.Drivers {
		c.at(strict.Index(c.path, i), func() {
			c.readProfile(&c.scenario.Drivers[i])
			c.readDeploy(&c.scenario.Drivers[i])
			d := c.scenario.Drivers[i]
			c.checkWays(d)
			c.dnsName("name", d.Name)
			c.once("name", "driver", d.name(), lines)
			for _, node := range slices.Sorted(maps.Keys(d.NodeIDs)) {
				c.node("nodeIDs", node)
			}
			for _, node := range d.Down {
				c.node("down", node)
			}
			if len(d.Down) > 0 && d.Socket != nil {
				c.report("down", "down with socket", "no down: a driver on a socket runs already")
			}
			if d.Later && d.name() == "" {
				c.report("later", "later without a name", "the driver's name, since csisim cannot query a driver that is not installed")
			}
			c.checkPlugins(d)
			c.checkReplicas(d)
			c.checkSidecars(d.Sidecars)
			if len(d.CSIAddons) > 0 && slices.Contains(d.External, externalName(sim.AddonsProgram)) {
				c.report("csiAddons", fmt.Sprintf("sidecars beside external: [%s]", sim.AddonsProgram), "one of them")
			}
			c.checkMock(d)
			c.checkProgram(d.Program)
			c.checkCSIDriver(d.name(), d.CSIDriver)
			if d.CSIDriver != nil && d.NoCSIDriver {
				c.report("csiDriver", "csiDriver beside noCSIDriver", "one of them")
			}
			c.checkVersionsOf(&c.scenario.Drivers[i])
			c.checkSocket(d.Socket)
		})
	}
}

// checkReplicas reports replicas of a controller plugin that cannot have any.
func (c *checker) checkReplicas(d Driver) {
	if d.Replicas < 2 {
		return
	}
	found, single := fmt.Sprintf("%d replicas", d.Replicas), d.Program != nil && d.Program.Single
	switch {
	case d.NoController:
		c.report("replicas", found+" of a driver without a controller plugin", "no replicas, or no noController")
	case d.Socket != nil || single:
		c.report("replicas", found+" of a program that csisim does not start for the controller alone", "no replicas, or a mock, a profile or a program that is not single")
	}
}

// checkWays reports a driver that has none or several of mock, profile, program and socket.
func (c *checker) checkWays(d Driver) {
	var ways []string
	for _, way := range []struct {
		name  string
		given bool
	}{{"mock", d.Mock != nil}, {"profile", d.Profile != ""}, {"program", d.Program != nil}, {"socket", d.Socket != nil}} {
		if given := way.given || c.has(way.name); given {
			ways = append(ways, way.name)
		}
	}
	if len(ways) != 1 && !c.reported("version") {
		found := "none of mock, profile, program and socket"
		if len(ways) > 1 {
			found = strings.Join(ways, " and ")
		}
		c.report("", found, "exactly one of mock, profile, program and socket")
	}
}

// has reports whether the file has the field in any form.
func (c *checker) has(field string) bool {
	_, ok := c.document.Positions[c.in(field)]
	return ok
}

func (c *checker) checkMock(d Driver) {
	if d.Mock == nil {
		return
	}
	if d.Mock.Name != "" && d.Name != "" && d.Mock.Name != d.Name {
		c.report("mock.name", fmt.Sprintf("name %q", d.Mock.Name), fmt.Sprintf("the driver's name, %q, or none", d.Name))
	}
	if d.name() == "" {
		c.report("", "a mock without a name", `a name such as "mock.csi.csisim.dev"`)
	}
	if err := d.Mock.Validate(); err != nil {
		for _, mistake := range strings.Split(err.Error(), "\n") {
			c.report("mock", "options that do not go together", mistake)
		}
	}
}

// mocked returns a mock with the driver's name and with all capabilities that the driver may have.
// The capabilities of a program are known only when it runs.
func (d *Driver) mocked() sim.Driver {
	m := sim.Driver{Name: d.name(), Mock: &mock.Options{ControllerExpand: true, Snapshot: true, VolumeCondition: true, ListVolumes: true}, NoController: d.NoController, Replicas: int(d.Replicas), Sidecars: d.Sidecars, Addons: d.CSIAddons}
	if d.Mock != nil {
		options := *d.Mock
		m.Mock = &options
	}
	return m
}

func (c *checker) checkProgram(p *Program) {
	if p == nil {
		return
	}
	c.checkCommand("program.command", p.Command)
	c.checkCommand("program.controllerCommand", p.ControllerCommand)
	for name, value := range p.Env {
		c.checkTemplate(strict.Key(c.path+".program.env", name), value)
	}
	c.checkNodePaths(p)
	if !profile.IsSocket(p.PluginSocket) {
		c.report("program.pluginSocket", fmt.Sprintf("path %q", p.PluginSocket), profile.WantedSocket)
	}
	if !profile.IsSocket(p.AddonsSocket) {
		c.report("program.addonsSocket", fmt.Sprintf("path %q", p.AddonsSocket), profile.WantedSocket)
	}
	p.StandIns.Check(c.document, c.path+".program.standIns")
}

func (c *checker) checkNodePaths(p *Program) {
	for i, dir := range p.NodePaths {
		if !profile.IsNodePath(dir) {
			c.document.Report(strict.Index(c.in("program.nodePaths"), i), fmt.Sprintf("path %q", dir), profile.WantedNodePath)
		}
	}
}

// checkCommand reports an empty command, and arguments that are no templates.
func (c *checker) checkCommand(field string, command []string) {
	if len(command) == 0 && c.has(field) {
		c.report(field, "an empty list", "a program and its arguments")
	}
	for i, argument := range command {
		c.checkTemplate(strict.Index(c.path+"."+field, i), argument)
	}
}

func (c *checker) checkTemplate(path, text string) {
	parsed, err := template.New("argument").Option("missingkey=error").Parse(text)
	if err == nil {
		err = parsed.Execute(io.Discard, program.Fields{})
	}
	if err != nil {
		c.document.Report(path, fmt.Sprintf("template %q", text),
			"a template with .Endpoint, .Socket, .NodeID, .NodeName, .StateDir, .NodeStateDir, .KubeletDir, .Driver, .Mode, .Cluster, .AddonsEndpoint, .AddonsSocket or .ServiceURL")
	}
}

func (c *checker) checkSocket(s *Socket) {
	if s == nil {
		return
	}
	for _, node := range slices.Sorted(maps.Keys(s.Nodes)) {
		c.node("socket.nodes", node)
	}
	if s.Node != "" && len(c.nodeNames()) != 1 {
		c.report("socket.node", fmt.Sprintf("one socket for %d nodes", len(c.nodeNames())), "nodes, with a socket for each node")
	}
	if s.Node == "" && s.Controller == "" && len(s.Nodes) == 0 {
		c.report("socket", "no socket", "a controller, nodes or node socket")
	}
}
