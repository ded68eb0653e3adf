package explain

import "fmt"

// A volume was detached by force, which can damage data.
var _ = register("force-detach", remark, func(s *Story) (found []Finding) {
	for _, o := range s.order {
		if !o.IsForced {
			continue
		}
		found = append(found, Finding{
			Title: fmt.Sprintf("%s was detached by force%s", upper(o.subject()), placed(o)), Component: "kube-controller-manager", Certainty: Certain,
			Since: o.Began, Until: o.Last, Seen: places(o), volume: o.Volume, node: o.Node,
			Cause: "the kubelet of the node did not report its unmount in time, or the node has the taint out-of-service",
		})
	}
	return found
})
