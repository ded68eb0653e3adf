package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// checker checks the references in a scenario and collects the mistakes.
type checker struct {
	scenario *Scenario
	document *strict.Document
	problems strict.Problems
	dir      string // of the scenario's file

	kinds       expect.Kinds
	path        string // of the value that is being checked
	number      int    // index of the checked step; at the end, the number of steps
	made        manifestObjects
	definitions definitions
	ruled       ruled
	faults      map[string]bool // injected by the steps so far, by name
	names       map[string]int  // of the steps so far: their lines
	versions    versions
	controls    []string // names of the controllers; see controllers
}

// at checks a value inside of the current one.
func (c *checker) at(path string, check func()) {
	outer := c.path
	c.path = path
	check()
	c.path = outer
}

// in returns the path of a field of the current value; without a field, of the value itself.
func (c *checker) in(field string) string {
	path := c.path
	if field == "" {
		return path
	}
	for _, key := range strings.Split(field, ".") {
		path = strict.Key(path, key)
	}
	return path
}

// report adds a mistake in a field of the current value, or in the value itself.
func (c *checker) report(field, found, want string) {
	if !c.reported(field) {
		c.document.Report(c.in(field), found, want)
	}
}

// reported reports whether the field already has a mistake, because then its consequences are not
// reported.
func (c *checker) reported(field string) bool {
	path := c.in(field)
	return slices.ContainsFunc(c.document.Problems(), func(p strict.Problem) bool { return p.Path == path })
}

// unknown reports a name that does not exist.
func (c *checker) unknown(field, kind, name string, known []string) {
	if c.reported(field) {
		return
	}
	slices.Sort(known)
	want := fmt.Sprintf("a %s of this scenario: %s", kind, strings.Join(known, ", "))
	if len(known) == 0 {
		want = fmt.Sprintf("no %s, since this scenario has none", kind)
	}
	c.document.ReportUnknown(c.in(field), fmt.Sprintf("%s %q", kind, name), name, want, known)
}

func (c *checker) nodeNames() []string {
	nodes := c.scenario.Cluster.Nodes
	if len(nodes) == 0 {
		return []string{"node-a", "node-b"}
	}
	var names []string
	for _, n := range nodes {
		names = append(names, n.Name)
	}
	return names
}

func (c *checker) node(field, name string) {
	if known := c.nodeNames(); !slices.Contains(known, name) {
		c.unknown(field, "node", name, known)
	}
}

// driverNames lists the drivers. all is false if the name of a driver on a socket is not known yet.
func (c *checker) driverNames() (names []string, all bool) {
	all = true
	for _, d := range c.scenario.Drivers {
		if d.name() == "" {
			all = false
		} else {
			names = append(names, d.name())
		}
	}
	return names, all
}

// driver checks a driver's name. It may be left out if there is only one driver.
func (c *checker) driver(field, name string) {
	names, all := c.driverNames()
	switch {
	case name == "" && len(c.scenario.Drivers) == 1:
	case len(c.scenario.Drivers) == 0:
		c.report(field, "no driver", "a driver, since this scenario has none in drivers")
	case name == "":
		c.report(field, "no driver", "the driver's name, since this scenario has not exactly one: "+strings.Join(names, ", "))
	case all && !slices.Contains(names, name):
		c.unknown(field, "driver", name, names)
	}
}

// controller checks the name of a controller or sidecar.
func (c *checker) controller(field, name string) {
	if known := c.controllers(); len(known) > 0 && !slices.Contains(known, name) {
		c.unknown(field, "controller", name, known)
	}
}

// controllers lists the controllers and sidecars of a cluster like the scenario's, with mocks as
// drivers. It returns none if the name of a driver is not known yet, or if the cluster cannot be
// made.
func (c *checker) controllers() []string {
	_, all := c.driverNames()
	if c.controls != nil || !all {
		return slices.Clone(c.controls)
	}
	options := sim.Options{SnapshotController: c.scenario.Cluster.SnapshotController}
	for _, d := range c.scenario.Drivers {
		options.Drivers = append(options.Drivers, d.mocked())
		if d.Sidecars.Provisioner.NodeDeployment && options.Nodes == nil {
			for _, n := range c.scenario.Cluster.Nodes {
				options.Nodes = append(options.Nodes, sim.Node{Name: n.Name})
			}
		}
	}
	like, err := sim.Start(options)
	if err != nil {
		return nil
	}
	defer func() { _ = like.Close() }() // it has only memory
	c.controls = append(like.Controllers(), controlPlane)
	slices.Sort(c.controls)
	c.controls = slices.Compact(c.controls)
	return slices.Clone(c.controls)
}

// controlPlane means all controllers of the kube-controller-manager.
const controlPlane = "kube-controller-manager"

// phases are the values of status.phase by resource.
var phases = map[string][]string{
	"pods":                   {"Pending", "Running", "Succeeded", "Failed", "Unknown"},
	"persistentvolumeclaims": {"Pending", "Bound", "Lost"},
	"persistentvolumes":      {"Pending", "Available", "Bound", "Released", "Failed"},
	"namespaces":             {"Active", "Terminating"},
}

func (c *checker) phase(res *store.Resource, phase string) {
	known, ok := phases[res.GVR.Resource]
	switch {
	case kind.DefinitionOf(res) != nil:
	case !ok:
		c.report("phase", fmt.Sprintf("phase %q of a %s", phase, expect.Singular(res)), "no phase, since this kind has none")
	case !slices.Contains(known, phase):
		c.document.ReportUnknown(c.in("phase"), fmt.Sprintf("phase %q", phase), phase,
			fmt.Sprintf("a phase of a %s: %s", expect.Singular(res), strings.Join(known, ", ")), known)
	}
}
