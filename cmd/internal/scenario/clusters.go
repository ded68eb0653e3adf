package scenario

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/sim/expect"
)

// site is one of the clusters of a run.
type site struct {
	name     string // empty for the only one
	cluster  World
	evidence *expect.Evidence
}

// enter makes a cluster the current one. Without a name, it takes the first one.
func (r *runner) enter(name string) {
	at := max(0, slices.IndexFunc(r.sites, func(p site) bool { return p.name == name }))
	r.cluster, r.evidence = r.sites[at].cluster, r.sites[at].evidence
}

// everywhere calls do in each cluster, until one call fails.
func (r *runner) everywhere(do func() error) error {
	for _, p := range r.sites {
		r.enter(p.name)
		if err := do(); err != nil {
			return err
		}
	}
	return nil
}

// ofAll marks a kind of step that does not concern a single cluster.
type ofAll interface{ ofAll() }

func (*advanceStep) ofAll()    {}
func (*settleStep) ofAll()     {}
func (noteStep) ofAll()        {}
func (powerOffAllStep) ofAll() {}
func (powerOnAllStep) ofAll()  {}

func (c *checker) checkClusters() {
	names := c.scenario.Clusters
	if _, given := c.document.Positions["clusters"]; given && len(names) != 2 {
		c.report("", fmt.Sprintf("a list of %s", plural.Of(len(names), "cluster")), "two names, such as [west, east]")
		return
	}
	for i, name := range names {
		c.at(strict.Index(c.path, i), func() {
			switch {
			case len(validation.IsDNS1123Label(name)) > 0:
				c.report("", fmt.Sprintf("name %q", name), `lower-case letters, digits and -, such as "west"`)
			case slices.Contains(names[:i], name):
				c.report("", fmt.Sprintf("cluster %q a second time", name), "each name once")
			}
		})
	}
	if len(names) > 0 && len(c.scenario.Always)+len(c.scenario.Sometimes) > 0 {
		c.report("", "always or sometimes beside several clusters", "one cluster, or expectations in each")
	}
	for i, d := range c.scenario.Drivers {
		if len(names) > 0 && (d.Socket != nil || len(d.External) > 0 || d.Profile != "") {
			c.at(strict.Index("drivers", i), func() {
				c.report("", "a profile, socket or external sidecar in several clusters", "a mock or a program")
			})
		}
	}
}

// checkIn reports a step with an unknown cluster, or without the cluster if there are several.
func (c *checker) checkIn(s *Step) {
	names := c.scenario.Clusters
	_, all := s.action.(ofAll)
	switch {
	case s.In == "" && (len(names) == 0 || all || s.action == nil):
	case s.In == "":
		c.document.Report(s.path, "a step without in", fmt.Sprintf("in beside %s, the cluster in which it acts: %s", s.Kind, strings.Join(names, " or ")))
	case len(names) == 0:
		c.document.Report(strict.Key(s.path, "in"), fmt.Sprintf("cluster %q", s.In), "no in, since this scenario has no clusters")
	case !slices.Contains(names, s.In):
		c.document.ReportUnknown(strict.Key(s.path, "in"), fmt.Sprintf("cluster %q", s.In), s.In, "a cluster of this scenario: "+strings.Join(names, ", "), names)
	}
}

// checkExpectedIn reports expectations with an unknown cluster, or without a cluster if there are
// several.
func (c *checker) checkExpectedIn(e *Expectations) {
	names := c.scenario.Clusters
	for _, name := range slices.Sorted(maps.Keys(e.In)) {
		path := "in." + name
		switch {
		case len(names) == 0:
			c.report("in", fmt.Sprintf("cluster %q", name), "no in, since this scenario has no clusters")
			return
		case !slices.Contains(names, name):
			c.unknown(path, "cluster", name, slices.Clone(names))
		default:
			its := e.In[name]
			if its.In != nil || its.Fails != "" {
				c.report(path, "in or fails within in", "expectations of the cluster "+name)
			}
			c.at(c.in(path), func() { its.check(c) })
			e.In[name] = its
		}
	}
	ofOne := len(e.Calls)+len(e.Forbidden)+len(e.Objects)+len(e.Events)+len(e.That) > 0 || e.Since != ""
	if len(names) > 0 && ofOne && c.path == "expect" {
		c.report("", "expectations of no cluster", fmt.Sprintf("in: {%s: {...}}, the cluster of each", names[0]))
	}
}

// of returns the expectations of a cluster at the end.
func (e Expectations) of(cluster string) Expectations {
	if cluster == "" {
		return e
	}
	its := e.In[cluster]
	if its.Leftovers == nil {
		its.Leftovers = e.Leftovers
	}
	if its.Violations == nil {
		its.Violations = e.Violations
	}
	return its
}
