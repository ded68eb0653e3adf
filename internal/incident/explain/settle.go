package explain

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// settle merges operations that turn out to be the same, because they have the same volume, or
// because one log did not name the node.
func (s *Story) settle() {
	var kept []*Operation
	byKey := map[operationKey]*Operation{}
	for _, o := range s.order {
		o.Volume = o.Volume.now()
		key := operationKey{o.Kind, o.Volume, o.place()}
		if known := byKey[key]; known != nil {
			known.join(o)
			continue
		}
		byKey[key] = o
		kept = append(kept, o)
	}
	s.order = kept
	s.dropUnplaced()
}

func (o *Operation) place() string {
	switch o.Kind {
	case "publish", "unpublish":
		return o.Node + " " + o.Pod
	}
	return o.Node
}

// dropUnplaced merges operations without a node into the only operation with a node. It drops an
// operation if a later attempt succeeded on each of its nodes.
func (s *Story) dropUnplaced() {
	var kept []*Operation
	for _, o := range s.order {
		if o.Node == "" {
			others := s.othersPlaced(o)
			if len(others) == 1 {
				others[0].join(o)
				continue
			}
			if areDoneAfter(others, o) {
				continue
			}
		}
		kept = append(kept, o)
	}
	s.order = kept
}

// areDoneAfter reports whether some operations ended after another one, and all of these are done.
func areDoneAfter(all []*Operation, other *Operation) bool {
	later := slices.DeleteFunc(all, func(o *Operation) bool { return o.Last < other.Last })
	return len(later) > 0 && !slices.ContainsFunc(later, func(o *Operation) bool { return !o.IsDone })
}

func (s *Story) othersPlaced(o *Operation) (found []*Operation) {
	for _, other := range s.order {
		if other != o && other.Kind == o.Kind && other.Volume == o.Volume && other.Node != "" {
			found = append(found, other)
		}
	}
	return found
}

// join adds the attempts of another operation that turned out to be the same. The later one
// determines the result.
func (o *Operation) join(other *Operation) {
	first, last := o, other
	if other.Last < o.Last || other.Last == o.Last && other.IsDone && !o.IsDone {
		first, last = other, o
	}
	joined := *last
	if !first.IsDone && !last.IsDone {
		joined.Failures = max(first.Failures, last.Failures)
		joined.InUse = max(first.InUse, last.InUse)
		if joined.Open == nil {
			joined.Open = first.Open
		}
	}
	if !first.IsDone || last.IsDone {
		joined.Began, joined.First = min(first.Began, last.Began), first.First
	}
	fill(&joined.Node, first.Node)
	fill(&joined.Pod, first.Pod)
	fill(&joined.HeldBy, first.HeldBy)
	fill(&joined.Error, first.Error)
	fill(&joined.Code, first.Code)
	if joined.By == "event" || joined.By == "" {
		joined.By = first.By
	}
	*o = joined
}

func fill(to *string, from string) {
	if *to == "" {
		*to = from
	}
}

// attach joins a volume with the name of its attachment to a node. K-PATH-6
func (s *Story) attach(v *Volume, node string) {
	if v == nil || v.Handle == "" || v.Driver == "" || node == "" {
		return
	}
	name := fmt.Sprintf("csi-%x", sha256.Sum256([]byte(v.Handle+v.Driver+node)))
	s.names.volume(byHandle+v.Handle, byAttachment+name).Attachments[name] = node
}
