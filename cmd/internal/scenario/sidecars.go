package scenario

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/sim"
)

// checkSidecars reports invalid flags.
func (c *checker) checkSidecars(s sim.Sidecars) {
	for _, program := range s.Mistakes(c.versions.controlPlane) {
		for _, m := range program.Mistakes {
			path := strict.Key(c.in("sidecars"), program.Sidecar)
			if m.Field != "" {
				path = strict.Key(path, m.Field)
			}
			c.document.Report(path, m.Found, m.Want)
		}
	}
}

// checkSnapshotController reports invalid flags of the snapshot-controller.
func (c *checker) checkSnapshotController() {
	for _, m := range c.scenario.Cluster.SnapshotController.Mistakes() {
		c.report(m.Field, m.Found, m.Want)
	}
}

// externalName is the name of a sidecar that runs outside the simulation.
type externalName string

// Wanted lists the names.
func (externalName) Wanted() string { return strict.OneOf(sim.Externals(), "external") }

// UnmarshalStrict reads one of these values.
func (e *externalName) UnmarshalStrict(n *strict.Node) {
	*e = externalName(readName(n, sim.Externals(), e.Wanted()))
}

// JSONSchema lists the names.
func (externalName) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "enum": sim.Externals()}
}

// callerName is the name of a program that calls drivers.
type callerName string

func callerNames() []string {
	return append([]string{string(fault.Kubelet)}, fakecontroller.Callers()...)
}

// Wanted lists the names.
func (callerName) Wanted() string { return strict.OneOf(callerNames(), "from") }

// UnmarshalStrict reads one of these values.
func (f *callerName) UnmarshalStrict(n *strict.Node) {
	*f = callerName(readName(n, callerNames(), f.Wanted()))
}

// JSONSchema lists the names.
func (callerName) JSONSchema() map[string]any {
	return map[string]any{"type": "string", "enum": callerNames()}
}

// readName reads a name out of a list.
func readName(n *strict.Node, names []string, want string) string {
	text, ok := n.Text()
	switch {
	case !ok:
		n.ReportWrong(want)
	case !slices.Contains(names, text):
		n.ReportUnknown(fmt.Sprintf("%q", text), text, want, names)
	}
	return text
}
