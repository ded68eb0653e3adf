package sim

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

// Apply creates objects or changes them to the given form, as kubectl apply does. Each manifest is
// YAML text, the path of a YAML file, or an object such as *corev1.Pod. An object has a Kubernetes
// type, is unstructured, or has a driver's own type with apiVersion and kind. For a kind that is
// neither built in nor from CSI-Addons, apply its CustomResourceDefinition first.
func (c *Cluster) Apply(manifests ...any) {
	c.t.Helper()
	for _, m := range manifests {
		objects, err := objectsOf(m)
		c.must(err, "apply manifests")
		for _, o := range objects {
			name := strings.ToLower(o.GetObjectKind().GroupVersionKind().Kind) + "/" + o.Meta().GetName() + o.Meta().GetGenerateName()
			c.say("apply " + name)
			c.must(c.applyManifest(o), "apply "+name)
		}
	}
}

func (c *Cluster) applyManifest(o manifest.Object) (err error) {
	c.t.Helper()
	if o.IsCustom() {
		c.onlySimulated(o.String(), "objects of kinds that drivers bring are not applied there yet")
		c.simulation.Exclusively(func() { err = c.checkKind(o) })
	}
	if err == nil {
		_, err = c.world.Apply(o.Object.(store.Object))
	}
	return err
}

// checkKind refuses an object of a kind that is not defined.
func (c *Cluster) checkKind(o manifest.Object) error {
	if err := c.simulation.objects.DefineKindOf(o.Object.(store.Object)); err != nil {
		return err
	}
	if _, err := kind.ResourceOf(c.simulation.World.Store, o.Object.(store.Object)); err != nil {
		return o.NoKind(kind.VersionsOf(c.simulation.World.Store, o.GetObjectKind().GroupVersionKind().GroupKind())...)
	}
	return nil
}

// objectsOf reads a manifest in one of its forms.
func objectsOf(m any) ([]manifest.Object, error) {
	switch m := m.(type) {
	case store.Object:
		res, err := store.ResourceOf(m)
		if err != nil {
			return encoded(m)
		}
		typed := m.DeepCopyObject().(store.Object)
		typed.GetObjectKind().SetGroupVersionKind(res.GVK)
		return []manifest.Object{{Object: typed}}, nil
	case []byte:
		return decode(strict.Source{File: "manifest", Text: m})
	case string:
		if isYAML(m) {
			return decode(strict.Source{File: "manifest", Text: []byte(m)})
		}
		text, err := strict.ReadFile(m)
		if err != nil {
			return nil, err
		}
		return decode(strict.Source{File: m, Text: text})
	}
	return nil, fmt.Errorf("it is a %T; give YAML text, the path of a file or a typed object such as *corev1.Pod", m)
}

// encoded reads an object of a Go type that csisim does not know.
func encoded(obj store.Object) ([]manifest.Object, error) {
	if obj.GetObjectKind().GroupVersionKind().Empty() {
		return nil, fmt.Errorf("a %T has no type: set its apiVersion and kind", obj)
	}
	text, err := json.Marshal(obj)
	if err != nil {
		return nil, err
	}
	return decode(strict.Source{File: fmt.Sprintf("%T", obj), Text: text})
}

// isYAML distinguishes YAML text from the path of a file.
func isYAML(text string) bool { return strings.ContainsAny(text, "\n{") }

func decode(source strict.Source) ([]manifest.Object, error) {
	objects, problems := manifest.DecodeText(source)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	for _, o := range objects {
		if _, kept := store.ResourceFor(o.GetObjectKind().GroupVersionKind()); !kept && !o.IsCustom() {
			return nil, fmt.Errorf("%v: the cluster keeps no objects of this kind", o)
		}
	}
	return objects, nil
}

// Delete requests the deletion of objects and does not wait for its end. They are named as for
// kubectl: "pod/web", "pvc/team-a/data"; * matches any text.
func (c *Cluster) Delete(refs ...string) {
	c.t.Helper()
	for _, text := range refs {
		var ref expect.Reference
		var found []store.Object
		var err error
		c.world.Exclusively(func() {
			if ref, err = expect.KindsIn(c.evidence.Store).Reference(text); err == nil {
				found = c.evidence.Find(ref)
			}
		})
		c.must(err, "delete")
		c.say("delete " + text)
		if len(found) == 0 {
			c.must(fmt.Errorf("there is no %v", ref), "delete "+text)
		}
		for _, obj := range found {
			c.must(c.world.Delete(ref.Resource, store.KeyOf(obj)), "delete "+text)
		}
	}
}
