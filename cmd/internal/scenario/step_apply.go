package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/api/unsimulated"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
)

// noteOnce adds a note to the result unless the result already has it.
func (r *runner) noteOnce(text string) {
	if !slices.Contains(r.result.Notes, text) {
		r.result.Notes = append(r.result.Notes, text)
	}
}

func init() {
	register("apply", "Creates objects, or changes them, as kubectl apply does: manifests, {file: path}, or {file: path, copies: 100} with {{i}} in the file for the number of the copy. A claim can name its source snapshot by the claim from which the snapshot was taken: name: pvc/data. It can name the volume for its binding by the claim for which the volume was provisioned: volumeName: pvc/data. In a scenario with clusters a PersistentVolume can name the volume of a claim of the other cluster: volumeHandle: west/pvc/data.", `
apply: |
  apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: data}
  spec:
    accessModes: [ReadWriteOnce]
    resources: {requests: {storage: 1Gi}}
    storageClassName: standard
`, &applyStep{})
}

// applyStep applies manifests.
type applyStep struct {
	Manifests

	objects []object // read when the scenario is checked
}

// UnmarshalStrict keeps the manifests as text.
func (s *applyStep) UnmarshalStrict(n *strict.Node) {
	if n.IsMap() && len(n.Entries()) == 0 {
		return // reported by check
	}
	s.Manifests.UnmarshalStrict(n)
}

func (s *applyStep) check(c *checker) {
	if len(s.parts) == 0 {
		c.report("", "no manifest", "manifests, or {file: path}")
	}
}

func (s *applyStep) do(r *runner) error { return r.apply(s.objects) }

// nameOf returns kind and name: pod/web.
func nameOf(o object) string {
	return strings.ToLower(o.GetObjectKind().GroupVersionKind().Kind) + "/" + o.Meta().GetName() + o.Meta().GetGenerateName()
}

func named(objects []object) string {
	names := make([]string, len(objects))
	for i, o := range objects {
		names[i] = nameOf(o)
	}
	return strings.Join(names, ", ")
}

func (r *runner) apply(objects []object) error {
	for _, o := range objects {
		if err := r.interrupted(); err != nil {
			return err
		}
		name := nameOf(o)
		object, err := withSource(r.store(), o.Object.(store.Object))
		if err == nil {
			object, err = withVolume(r.evidence, object)
		}
		if err == nil {
			object, err = r.withHandle(object)
		}
		if err != nil {
			return err
		}
		verb, err := r.cluster.Apply(object)
		if err != nil {
			return &Failure{
				Verdict: verdict.Plain(fmt.Sprintf("%s is refused", name)), Expected: "an object that the API server takes",
				Got: err.Error(), Hint: fmt.Sprintf("the manifest is at %s:%d", o.File, o.At.Line),
			}
		}
		r.say(name + " " + verb)
		for _, text := range unsimulated.Of(object) {
			r.noteOnce(name + ": " + text)
		}
	}
	return r.cluster.Applied()
}
