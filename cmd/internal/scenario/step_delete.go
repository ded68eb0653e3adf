package scenario

import (
	"fmt"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

func init() {
	register("delete", "Requests the deletion of an object and does not wait for its end.", `delete: {pod: web}`, &deleteStep{})
}

// deleteStep deletes an object, or all objects that match a name with *.
type deleteStep struct {
	expect.Reference
	deleteFields
}

type deleteFields struct {
	Grace *strict.Duration `json:"grace,omitempty" example:"0s" doc:"The grace period of a pod; default the pod's own."`
	Force bool             `json:"force,omitempty" doc:"Deletes a pod at once, without waiting for its kubelet."`
}

// UnmarshalStrict reads the object and the fields.
func (s *deleteStep) UnmarshalStrict(n *strict.Node) {
	if !n.IsMap() {
		n.ReportWrong("a map with an object, such as {pod: web}")
		return
	}
	s.Take(n).Decode(&s.deleteFields)
}

// JSONSchema is a reference with the fields.
func (deleteStep) JSONSchema() map[string]any {
	return referring(expect.ReferenceKeys(), deleteFields{})
}

func (s *deleteStep) check(c *checker) {
	c.referred(s.Reference)
	if s.Resource != nil && s.Resource.GVR.Resource != "pods" && (s.Grace != nil || s.Force) {
		c.report("", "grace or force of a "+expect.Singular(s.Resource), "them only for a pod")
	}
}

func (s *deleteStep) do(r *runner) error {
	var grace *int64
	switch {
	case s.Force:
		grace = new(int64)
	case s.Grace != nil:
		grace = new(int64(s.Grace.Seconds()))
	}
	found := r.evidence.Find(s.Reference)
	if len(found) == 0 {
		return missing(s.Reference)
	}
	res, _ := s.In(r.store())
	for _, obj := range found {
		if err := r.cluster.Delete(res, store.KeyOf(obj), grace); err != nil {
			return fmt.Errorf("delete %s %s: %w", s.Word, obj.GetName(), err)
		}
		r.say(fmt.Sprintf("%s/%s deleted", s.Word, obj.GetName()))
	}
	return nil
}

// missing returns the failure of a reference to an object that does not exist.
func missing(ref expect.Reference) *Failure {
	return &Failure{Verdict: verdict.Plain(ref.String() + " not found"), Expected: ref.String(), Got: "no such object"}
}

// referred checks a reference of a step.
func (c *checker) referred(ref expect.Reference) {
	if ref.Resource == nil {
		c.report("", "no object", "the kind and name of one, such as pod: web")
		return
	}
	c.object(ref)
}
