package explain

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/incident/fields"
)

// A volume is attached to one node and wanted on another.
var _ = register("multi-attach", cause, func(s *Story) (found []Finding) {
	for _, o := range s.order {
		if o.Code == "Multi-Attach" && o.isFailing() {
			found = append(found, s.multiAttach(o))
		}
	}
	return found
})

func (s *Story) multiAttach(o *Operation) Finding {
	holder := cmp.Or(strings.Trim(o.HeldBy, `"[]`), s.holderOf(o))
	f := Finding{
		Title:     fmt.Sprintf("%s cannot be attached%s: it is attached to %s", upper(o.subject()), placed(o), cmp.Or(holder, "another node")),
		Component: "kube-controller-manager", Certainty: Certain, Since: o.Began, Until: o.Last, Seen: places(o), volume: o.Volume, node: o.Node, holder: holder,
	}
	f.Chain = s.waitersFor(o)
	f.Chain = append(f.Chain, "attach/detach controller waits for the detachment from "+cmp.Or(holder, "the other node"))
	s.whyHeld(&f, o.Volume, holder)
	return f
}

// holderOf returns the node to which a volume is attached, according to the other operations and
// objects.
func (s *Story) holderOf(refused *Operation) string {
	for key, object := range s.objects { // in any order: at most one other node has the volume
		if name, is := cutPrefix(key, "volumeattachments/"); is && s.names.group[byAttachment+name].now() == refused.Volume {
			if node := fields.Text(object, "spec", "nodeName"); node != refused.Node {
				return node
			}
		}
	}
	holder := ""
	for _, o := range s.order {
		if o.Volume != refused.Volume || o.Node == "" || o.Node == refused.Node {
			continue
		}
		switch o.Kind {
		case "attach", "stage", "publish", "unstage", "unpublish", "detach":
			holder = o.Node
		}
	}
	return holder
}

// undoing lists the steps that release a volume, in their order.
var undoing = []string{"unpublish", "unstage", "detach"}

// whyHeld finds the step that keeps a volume on its node.
func (s *Story) whyHeld(f *Finding, v *Volume, holder string) {
	for _, kind := range undoing {
		for _, o := range s.find(kind, v) {
			if o.Node != holder && o.Node != "" && holder != "" {
				continue
			}
			s.heldBy(f, o)
			return
		}
	}
	switch {
	case s.nodeIsDown(holder):
		f.Component, f.Certainty = "node "+holder, Likely
		f.Cause = "node " + holder + " is not ready: its kubelet does not unmount the volume"
		f.Advice = "delete the pods of the node, or taint it " + outOfService + " if it is shut down"
	case s.OnNode[[2]string{"kubelet", holder}] == 0:
		f.Component, f.Certainty = "unknown", Unknown
		f.Cause = "the log of the kubelet on " + cmp.Or(holder, "the other node") + ", which would say why it does not release the volume, is not among the logs"
	default:
		f.Certainty = Likely
		f.Component = "kubelet " + holder
		f.Cause = "the kubelet of " + holder + " reports no attempt to unmount the volume: a pod there still uses it, or its deletion has not begun"
		f.Advice = "look for pods on " + holder + " that use the claim"
	}
}

// heldBy names the failing step as the cause.
func (s *Story) heldBy(f *Finding, o *Operation) {
	f.Chain = append(f.Chain, fmt.Sprintf("%s: %s%s", s.actor(o), rpcs[o.Kind], state(o)))
	f.Seen = append(f.Seen, o.Seen)
	f.because = o
	f.Component = s.componentOf(o)
	f.Cause = codeWords(o)
	if o.IsRunning {
		f.Cause = rpcs[o.Kind] + " has not returned"
	}
	if o.Failures > 0 {
		f.explainError(o)
	}
}

// state describes the state of an operation.
func state(o *Operation) string {
	switch {
	case o.IsRunning:
		return " has begun and not ended"
	case o.Failures > 0:
		return " fails, " + times(o.Failures) + next(o) + ": " + codeWords(o)
	}
	return ""
}

// nodeIsDown reports whether a node was not ready at the end.
func (s *Story) nodeIsDown(node string) bool {
	object := s.objects["nodes/"+node]
	ready := fields.Text(object, "status", "Ready")
	return object != nil && ready != "" && !strings.HasPrefix(ready, "True")
}
