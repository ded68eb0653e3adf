package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A pod waits for its volumes, but no operation explains the wait.
var _ = register("pod-waits", consequence, func(s *Story) (found []Finding) {
	for _, name := range slices.Sorted(maps.Keys(s.pods)) {
		p := s.pods[name]
		if !p.waits || s.isExplained(p) {
			continue
		}
		found = append(found, s.waiting(p))
	}
	return found
})

// isExplained reports whether an operation for the pod fails or hangs.
func (s *Story) isExplained(p *pod) bool {
	return slices.ContainsFunc(s.order, func(o *Operation) bool {
		isOf := o.Pod == p.name || "default/"+o.Pod == p.name || strings.HasSuffix(p.name, "/"+o.Pod) && o.Pod != ""
		return isOf && (o.isFailing() || o.Open != nil)
	}) || slices.ContainsFunc(s.order, func(o *Operation) bool {
		return o.Pod == "" && o.isFailing() && (p.node == "" || o.Node == p.node) && (o.Kind == "stage" || o.Kind == "attach" || o.Kind == "publish")
	})
}

func (s *Story) waiting(p *pod) Finding {
	f := Finding{
		Title: fmt.Sprintf("Pod %s waits for its volumes: %s", shortName(p.name), firstLine(p.reason)), Component: "unknown", Certainty: Unknown,
		Since: p.since, Until: s.Ended, Seen: []Place{p.seen}, node: p.node, Cause: "these logs do not show the operation that it waits for",
	}
	switch {
	case strings.Contains(p.reason, "volume node affinity conflict"):
		f.Component, f.Certainty = "kube-scheduler", Certain
		f.Cause = "the volume can be used on other nodes only, and the pod does not fit there"
		f.Advice = "compare the node affinity of the PersistentVolume with the nodes that have room"
	case strings.Contains(p.reason, "max volume count"):
		f.Component, f.Certainty = "kube-scheduler", Certain
		f.Cause = "the nodes have reached the driver's limit of attached volumes"
		f.Advice = "compare CSINode spec.drivers[].allocatable.count with the VolumeAttachments of the nodes"
	case strings.Contains(p.reason, "unbound immediate PersistentVolumeClaims"):
		f.Component, f.Certainty = "csi-provisioner", Likely
		f.Cause = "its claim is not bound: the volume has not been provisioned"
		f.Advice = "look at the Events of the claim and at csi-provisioner"
	case strings.Contains(p.reason, "ReadWriteOncePod"), strings.Contains(p.reason, "in-use by another pod"):
		f.Component, f.Certainty = "kube-scheduler", Certain
		f.Cause = "another pod uses the claim, which is ReadWriteOncePod"
	}
	return f
}
