package scenario

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/input/calls"
)

func init() {
	register("fault", "Makes CSI calls fail, get lost, hang or take long, or kills a component at a call.", `
fault: {name: flaky, call: NodeStageVolume, node: node-a, code: Internal, times: 2}
`, &faultStep{})
	register("clear-fault", "Ends a fault, or all faults; held calls continue.", `clear-fault: flaky`, clearFaultStep(""))
}

// faultStep injects a fault. The fields of package effect select its effect.
type faultStep struct {
	Name       string            `json:"name,omitempty" example:"flaky" doc:"The name of the fault, in reports and for clear-fault; default the call."`
	Call       string            `json:"call" want:"required" example:"NodeStageVolume" doc:"The CSI method; * stands for any letters."`
	Driver     string            `json:"driver,omitempty" doc:"Only calls to this driver."`
	Node       string            `json:"node,omitempty" doc:"Only calls to the plugin on this node."`
	From       callerName        `json:"from,omitempty" doc:"Only calls of this caller."`
	Volume     string            `json:"volume,omitempty" doc:"Only calls about the volume with this id; for CreateVolume, with this requested name. * stands for any letters."`
	LargerThan resource.Quantity `json:"largerThan,omitempty" example:"512Mi" doc:"Only calls that require a larger volume. Only for CreateVolume, ControllerExpandVolume and NodeExpandVolume."`
	After      uint              `json:"after,omitempty" doc:"The number of such calls that pass before the fault begins; default 0."`
	Times      uint              `json:"times,omitempty" doc:"The number of affected calls. Default: all until the fault is cleared; 1 with kill."`
	effect.Fields
}

func (s *faultStep) name() string { return cmp.Or(s.Name, s.Call) }

func (s *faultStep) check(c *checker) {
	if s.Call != "" && !calls.IsMethod(s.Call) {
		c.document.ReportUnknown(c.in("call"), fmt.Sprintf("call %q", s.Call), s.Call,
			`a method of the CSI spec, such as "NodeStageVolume"`, calls.Methods())
	}
	if s.Driver != "" {
		c.driver("driver", s.Driver)
	}
	if s.Node != "" {
		c.node("node", s.Node)
	}
	s.checkEffect(c)
	s.Check(s.Call, &effectChecker{c, s.Driver})
	if strings.HasPrefix(s.Call, "Controller") && s.Node != "" {
		c.report("node", "the node of a controller call", "no node: controller plugins are not on one; volume narrows it down")
	}
	if calls.IsMethod(s.Call) && !s.LargerThan.IsZero() && !calls.MayBe(s.Call, fault.RequiresSize) {
		c.report("largerThan", fmt.Sprintf("a size of %s, which requires none", s.Call), "a call that requires a size: CreateVolume, ControllerExpandVolume, NodeExpandVolume or *")
	}
	if c.faults[s.name()] && s.name() != "" {
		c.report("name", fmt.Sprintf("fault %q while one of that name may be in force", s.name()), "a name of its own, or clear-fault before it")
	}
	c.faults[s.name()] = true
}

// checkEffect reports a fault with no effect or with more than one.
func (s *faultStep) checkEffect(c *checker) {
	want := "one of " + strings.Join(effect.FieldNames(), ", ")
	var found []string
	for _, e := range s.Given() {
		found = append(found, e.Field)
	}
	switch {
	case len(found) == 0 && !c.has("code"):
		c.report("", "a fault without an effect", want)
	case len(found) > 1:
		c.report("", strings.Join(found, " and "), want)
	}
}

// effectChecker lets effects report mistakes in the fields of a step.
type effectChecker struct {
	*checker
	of string // the driver; empty for the only one
}

func (c *effectChecker) Has(field string) bool            { return c.has(field) }
func (c *effectChecker) Report(field, found, want string) { c.report(field, found, want) }
func (c *effectChecker) Pattern(field, pattern string)    { c.pathPattern(field, pattern) }
func (c *effectChecker) Release(field, name string)       { c.version(field, c.of, name) }
func (c *effectChecker) HasPrograms() bool                { return c.hasPrograms() }
func (c *effectChecker) Known(field, noun, word string, known []string) {
	c.knownAs(field, noun, word, known)
}

// Victim reports a name that is neither a known victim nor a controller.
func (c *effectChecker) Victim(field, name string, known []string) {
	if controllers := c.controllers(); len(controllers) > 0 && !slices.Contains(controllers, name) {
		c.unknown(field, "victim", name, append(known, controllers...))
	}
}

// HasServices reports whether a driver has a stand-in for an HTTP service.
func (c *effectChecker) HasServices() bool {
	return slices.ContainsFunc(c.scenario.Drivers, func(d Driver) bool { return d.standIns().HTTP != nil })
}

func (s *faultStep) do(r *runner) error {
	return r.cluster.Inject(s.fault())
}

func (s *faultStep) fault() *fault.Fault {
	f := &fault.Fault{
		Name: s.name(), Call: s.Call, Driver: s.Driver, Node: s.Node, From: string(s.From), Volume: s.Volume,
		LargerThan: s.LargerThan.Value(), After: int(s.After), Times: int(s.Times),
		Message: cmp.Or(s.Message, fmt.Sprintf("fault %s of the scenario", s.name())),
	}
	s.Read(f)
	return f
}

// breaksMounts reports whether a step makes mounted file systems fail.
func (s *Scenario) breaksMounts() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool {
		f, is := step.action.(*faultStep)
		return is && f.Mounted != ""
	})
}

// clearFaultStep ends the fault of a name, or all.
type clearFaultStep string

const allFaults = "all"

// Wanted describes the names.
func (clearFaultStep) Wanted() string { return "the name of a fault, or all" }

func (s clearFaultStep) check(c *checker) {
	switch {
	case s == allFaults:
		clear(c.faults)
	case s != "" && !c.faults[string(s)]:
		c.unknown("", "fault", string(s), append(slices.Collect(maps.Keys(c.faults)), allFaults))
	default:
		delete(c.faults, string(s))
	}
}

func (s clearFaultStep) do(r *runner) error {
	name := string(s)
	if name == allFaults {
		name = ""
	}
	return r.cluster.ClearFaults(name)
}

// hasPrograms reports whether csisim starts a driver of the scenario as a program.
func (c *checker) hasPrograms() bool {
	return slices.ContainsFunc(c.scenario.Drivers, func(d Driver) bool { return d.Mock == nil && d.Socket == nil })
}

// knownAs reports a word that is not one of the known words.
func (c *checker) knownAs(field, noun, word string, known []string) {
	if word != "" && !slices.Contains(known, word) {
		c.document.ReportUnknown(c.in(field), fmt.Sprintf("%s %q", noun, word), word, "one of "+strings.Join(known, ", "), known)
	}
}

func (c *checker) pathPattern(field, pattern string) {
	if _, err := path.Match(pattern, ""); err != nil {
		c.report(field, "pattern \""+pattern+"\"", "a path in which * stands for any letters within an element")
	}
}
