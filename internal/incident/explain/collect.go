package explain

import (
	"fmt"
	"slices"
)

// missing lists the missing logs that findings need.
func (s *Story) missing(found []Finding) (all []Missing) {
	add := func(m Missing) {
		if !slices.ContainsFunc(all, func(known Missing) bool { return known.What == m.What }) {
			all = append(all, m)
		}
	}
	for i := range found {
		for _, o := range s.order {
			if o.Volume == found[i].volume && o.Volume != nil && !o.IsDone {
				s.missingFor(o, add)
			}
		}
		if node := found[i].holderOr(); node != "" {
			s.kubeletLog(node, add)
		}
	}
	if len(found) > 0 && len(s.objects) == 0 {
		add(Missing{"the objects", "they name the nodes and pods of each volume, and pending deletions",
			"kubectl get pods,pvc,pv,volumeattachments,csinodes,csidrivers,nodes -A -o yaml > objects.yaml"})
	}
	return all
}

// holderOr returns the node of a finding if its component is unknown; otherwise it is empty.
func (f *Finding) holderOr() string {
	if f.Component == "unknown" {
		return f.node
	}
	return ""
}

// missingFor adds the log of the component that executes an operation, and that of the driver.
func (s *Story) missingFor(o *Operation, add func(Missing)) {
	switch by := owners[o.Kind]; by {
	case "kubelet":
		if o.Node != "" {
			s.kubeletLog(o.Node, add)
		}
	default:
		if s.Sources[by] == 0 && o.Code != "Multi-Attach" {
			add(Missing{"the log of " + by, "it makes the call " + rpcs[o.Kind],
				fmt.Sprintf("kubectl -n NAMESPACE logs POD -c %s --timestamps > %s.log", by, by)})
		}
	}
	if (o.Kind == "attach" || o.Kind == "detach" || o.Kind == "await") && s.Sources["kube-controller-manager"] == 0 {
		add(Missing{"the log of kube-controller-manager", "its attach/detach controller decides about attachments",
			"kubectl -n kube-system logs kube-controller-manager-NODE --timestamps > kube-controller-manager.log"})
	}
	if s.calls == 0 && rpcs[o.Kind] != "" && o.Code != "Multi-Attach" {
		where := "the driver's controller"
		if o.Node != "" && owners[o.Kind] == "kubelet" {
			where = "the driver on " + o.Node
		}
		add(Missing{"the log of " + where, "it shows the call " + rpcs[o.Kind] + " from within",
			"kubectl -n NAMESPACE logs POD -c DRIVER --timestamps > driver.log"})
	}
}

// kubeletLog adds the log of a kubelet to the list, unless it is there.
func (s *Story) kubeletLog(node string, add func(Missing)) {
	if s.OnNode[[2]string{"kubelet", node}] > 0 {
		return
	}
	add(Missing{"the log of the kubelet on " + node, "it mounts and unmounts there",
		fmt.Sprintf("ssh %s journalctl -u kubelet -o short-iso-precise > kubelet-%s.log", node, node)})
}
