package scenario

import (
	"slices"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/real/promotion"
)

// reachesNodes reports whether the scenario needs access to nodes beyond the API.
func (s *Scenario) reachesNodes() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool { return isOnNode(step.action) }) || slices.ContainsFunc(s.Expect.That, Statement.looksAtNodes)
}

// isOnNode reports whether a step needs a command on a node.
func isOnNode(a action) bool {
	switch s := a.(type) {
	case killKubeletStep, restartKubeletStep, startKubeletStep, restartControllerStep, killControllerStep, startControllerStep, *recordFilesStep, *readFileStep, *writeFileStep:
		return true
	case *faultStep:
		return s.Kill != "" && s.Kill != string(fault.Driver)
	case *expectStep:
		return slices.ContainsFunc(s.That, Statement.looksAtNodes)
	}
	return false
}

// isPower reports whether a step concerns the power of a node.
func isPower(a action) bool {
	switch s := a.(type) {
	case powerOffStep, powerOnStep:
		return true
	case *faultStep:
		return s.Kill == string(fault.Node)
	}
	return false
}

// Boots counts the steps that power a node on.
func (s *Scenario) Boots() (n int) {
	for _, step := range s.Steps {
		switch a := step.action.(type) {
		case powerOnStep:
			n++
		case *faultStep:
			if isPower(a) && a.RestartAfter.Duration > 0 {
				n++
			}
		}
	}
	return n
}

// AdditionalPods counts the steps that create pods, except the first step. Real containers start
// and end one after the other.
func (s *Scenario) AdditionalPods() int {
	n := 0
	for _, step := range s.Steps {
		apply, is := step.action.(*applyStep)
		if is && slices.ContainsFunc(apply.objects, func(o object) bool { return o.GetObjectKind().GroupVersionKind().Kind == "Pod" }) {
			n++
		}
	}
	return max(n-1, 0)
}

// at adapts a step to a type of cluster. If kind did not make the cluster, only its API can be
// reached.
func (p Promotion) at(o promotion.TargetOptions, a action) Promotion {
	if _, isKind := o.IsKind(); isKind || p.Never != "" {
		return p
	}
	if isPower(a) {
		return never("csisim controls the power of nodes only with kind")
	}
	if isOnNode(a) {
		p.Becomes += "; a privileged pod on the node does it"
	}
	return p
}
