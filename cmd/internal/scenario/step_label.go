package scenario

import (
	"fmt"
	"maps"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

func init() {
	register("label", "Sets or removes labels of an object.", `label: {node: node-a, labels: {disk: ssd}, remove: [old]}`, &labelStep{})
}

// labelStep changes labels.
type labelStep struct {
	expect.Reference
	labelFields
}

type labelFields struct {
	Labels map[string]string `json:"labels,omitempty" doc:"Labels to set."`
	Remove []string          `json:"remove,omitempty" doc:"Keys of labels to remove."`
}

// UnmarshalStrict reads the object and the labels.
func (s *labelStep) UnmarshalStrict(n *strict.Node) {
	if !n.IsMap() {
		n.ReportWrong("a map with an object and labels, such as {node: node-a, labels: {disk: ssd}}")
		return
	}
	s.Take(n).Decode(&s.labelFields)
}

// JSONSchema is a reference with the labels.
func (labelStep) JSONSchema() map[string]any {
	return referring(expect.ReferenceKeys(), labelFields{})
}

func (s *labelStep) check(c *checker) {
	c.referred(s.Reference)
	c.checkLabels("labels", s.Labels)
	if len(s.Labels) == 0 && len(s.Remove) == 0 {
		c.report("", "no labels", "labels to set or to remove")
	}
}

func (s *labelStep) do(r *runner) error {
	found := r.evidence.Find(s.Reference)
	if len(found) == 0 {
		return missing(s.Reference)
	}
	res, _ := s.In(r.store())
	for _, obj := range found {
		if err := r.cluster.Modify(res, store.KeyOf(obj), "", s.change); err != nil {
			return fmt.Errorf("label %s %s: %w", s.Word, obj.GetName(), err)
		}
	}
	return nil
}

func (s *labelStep) change(obj store.Object) error {
	labels := maps.Clone(obj.GetLabels())
	if labels == nil {
		labels = map[string]string{}
	}
	maps.Copy(labels, s.Labels)
	for _, key := range s.Remove {
		delete(labels, key)
	}
	obj.SetLabels(labels)
	return nil
}
