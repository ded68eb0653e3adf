package scenario

import (
	"fmt"
	"slices"
	"strings"

	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
)

// alone returns the reason why the scenario needs a real cluster for itself. It is empty if the
// scenario only uses objects and drivers that can be renamed.
func (s *Scenario) alone() string {
	for _, n := range s.Cluster.Nodes {
		if n.MaxPods > 0 || len(n.Taints) > 0 || n.Labels != nil || n.Zone != "" || n.Region != "" {
			return "node " + n.Name + " is changed for it"
		}
	}
	if o := s.firstObject(concernsAll); o != nil {
		return nameOf(*o) + " is there for the whole cluster"
	}
	if s.hasTopology() {
		return "the topology of a driver is in labels of the nodes"
	}
	for _, step := range s.Steps {
		if why := touches(step.action); why != "" {
			return fmt.Sprintf("%s: %s", step.title, why)
		}
	}
	for _, statement := range s.Expect.That {
		if statement.looksAtNodes() {
			return "expect that " + statement.text + ": " + wholeNode
		}
	}
	return ""
}

// isOfCluster reports whether a part of the scenario concerns the whole cluster. In this case
// nothing is renamed.
func (s *Scenario) isOfCluster() bool { return s.firstObject(concernsAll) != nil || s.hasTopology() }

func (s *Scenario) hasTopology() bool {
	return slices.ContainsFunc(s.Drivers, func(d Driver) bool { return d.Mock != nil && d.Mock.Topology })
}

// owned returns the drivers that can exist only once in a cluster. Only the reference driver in
// memory can be renamed.
func (s *Scenario) owned() (names []string) {
	for _, d := range s.Drivers {
		if d.Mock == nil || d.own != nil {
			names = append(names, d.name())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// wholeNode is the reason why steps wait until other runs have ended.
const wholeNode = "it is about a node as a whole"

// touches returns the reason why a step affects other scenarios on its cluster; "" if it does not.
// Steps that are not listed here affect them.
func touches(a action) string {
	switch s := a.(type) {
	case *applyStep, *waitStep, *settleStep, *advanceStep, noteStep, *ledgerStep, clearFaultStep,
		*killDriverStep, *startDriverStep, *restartDriverStep, *upgradeDriverStep, *stopDriverStep, *readFileStep, *writeFileStep:
		return ""
	case *deleteStep:
		return ofNodes(s.Resource)
	case *patchStep:
		return ofNodes(s.Resource)
	case *labelStep:
		return ofNodes(s.Resource)
	case *expectStep:
		if slices.ContainsFunc(s.That, Statement.looksAtNodes) {
			return wholeNode
		}
		return ""
	case *faultStep:
		if s.Kill == "" || s.Kill == string(fault.Driver) {
			return ""
		}
		return "it kills " + s.Kill
	case restartControllerStep: // a sidecar runs in a container of its driver
		if strings.Contains(string(s), "/") {
			return ""
		}
		return string(s) + " serves the whole cluster"
	}
	return wholeNode
}

func ofNodes(of *store.Resource) string {
	if of != nil && (of.GVR.Resource == "nodes" || of.GVR.Resource == "csinodes") {
		return wholeNode
	}
	return ""
}

func (s Statement) looksAtNodes() bool { return strings.Contains(s.text, "files(") }

// concernsAll reports whether an object affects the whole cluster: it has no namespace and cannot
// be renamed, or it is the default class.
func concernsAll(o object) bool {
	if class, ok := o.Object.(*storagev1.StorageClass); ok {
		return class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true"
	}
	obj, ok := o.Object.(store.Object)
	if !ok {
		return true
	}
	res, err := store.ResourceOf(obj)
	return err != nil || !res.Namespaced && !slices.Contains(deploy.Renamable, res.GVR.Resource)
}
