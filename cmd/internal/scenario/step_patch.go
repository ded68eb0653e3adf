package scenario

import (
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

func init() {
	register("patch", "Changes fields of an object with a JSON merge patch; null removes a field.", `
patch: {pvc: data, merge: {spec: {resources: {requests: {storage: 2Gi}}}}}
`, &patchStep{})
}

// statusPart is the subresource of an object's status.
const statusPart = "status"

// patchStep changes objects.
type patchStep struct {
	expect.Reference
	patchFields
}

type patchFields struct {
	Merge       map[string]any `json:"merge" want:"required" doc:"The JSON merge patch."`
	Subresource string         `json:"subresource,omitempty" enum:"status" doc:"Patches the status instead of the rest."`
	Refused     string         `json:"refused,omitempty" example:"*is forbidden*" doc:"The message with which the API server must reject the patch; * stands for any text. Default: it must accept the patch."`
}

// UnmarshalStrict reads the object and the patch, and checks that the object has all fields of the
// patch.
func (s *patchStep) UnmarshalStrict(n *strict.Node) {
	if !n.IsMap() {
		n.ReportWrong("a map with an object and merge, such as {pvc: data, merge: {...}}")
		return
	}
	s.Take(n).Decode(&s.patchFields)
	if merge := n.Value("merge"); merge != nil && s.Resource != nil {
		checkFieldsOf(merge, s.Resource)
	}
}

// JSONSchema is a reference with the patch.
func (patchStep) JSONSchema() map[string]any {
	return referring(expect.ReferenceKeys(), patchFields{})
}

func (s *patchStep) check(c *checker) {
	c.referred(s.Reference)
	c.checkPatched(s)
}

func (s *patchStep) do(r *runner) error {
	found := r.evidence.Find(s.Reference)
	if len(found) == 0 {
		return missing(s.Reference)
	}
	res, _ := s.In(r.store())
	for _, obj := range found {
		if err := s.judge(obj, r.cluster.Modify(res, store.KeyOf(obj), s.Subresource, s.change)); err != nil {
			return err
		}
	}
	return nil
}

// judge compares the answer to the patch of an object with the expected answer. It returns the
// failure of the step.
func (s *patchStep) judge(obj store.Object, answer error) error {
	what := fmt.Sprintf("patch %s %s", s.Word, obj.GetName())
	switch {
	case s.Refused == "" && answer != nil:
		return fmt.Errorf("%s: %w", what, answer)
	case s.Refused != "" && answer == nil:
		return fmt.Errorf("%s: the API server took it, and was to refuse it with %s", what, s.Refused)
	case s.Refused != "" && !partial.Wildcard(s.Refused, answer.Error()):
		return fmt.Errorf("%s: refused, but not with %s: %w", what, s.Refused, answer)
	}
	return nil
}

func (s *patchStep) change(obj store.Object) error { return merge(obj, s.Merge) }

// merge applies a JSON merge patch to an object. A patch that cannot be applied leaves the object
// unchanged.
func merge(obj store.Object, patch map[string]any) error {
	before, err := json.Marshal(obj)
	if err != nil {
		return err
	}
	var fields any
	if err := json.Unmarshal(before, &fields); err != nil {
		return err
	}
	after, err := json.Marshal(merged(fields, patch))
	if err != nil {
		return err
	}
	into := reflect.New(reflect.TypeOf(obj).Elem())
	if err := json.Unmarshal(after, into.Interface()); err != nil {
		return err
	}
	reflect.ValueOf(obj).Elem().Set(into.Elem())
	return nil
}

// merged applies RFC 7386.
func merged(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	fields, ok := target.(map[string]any)
	if !ok {
		fields = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(fields, name)
		} else {
			fields[name] = merged(fields[name], value)
		}
	}
	return fields
}
