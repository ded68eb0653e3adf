package explain

import "fmt"

// The kubelet does not notice that a volume is attached to its node.
var _ = register(unseen, consequence, func(s *Story) (found []Finding) {
	for _, o := range s.order {
		if o.Kind == "await" && o.isFailing() && o.Failures >= again {
			found = append(found, s.unseenFinding(o))
		}
	}
	return found
})

func (s *Story) unseenFinding(o *Operation) Finding {
	f := Finding{
		Title: fmt.Sprintf("%s is not attached%s, as the kubelet sees it: %s", upper(o.subject()), placed(o), codeWords(o)), Component: "unknown", Certainty: Unknown,
		Since: o.Began, Until: o.Last, Cause: o.Error, Seen: places(o), volume: o.Volume, node: o.Node, of: o,
		Chain:  []string{s.actor(o) + " waits for the attachment, " + times(o.Failures) + next(o)},
		Advice: "compare status.volumesAttached of the Node with the VolumeAttachments of the volume",
	}
	if o.Pod != "" {
		f.Chain = append([]string{"pod " + shortName(o.Pod) + " waits for " + o.subject()}, f.Chain...)
	}
	return f
}
