package sim

import (
	"fmt"
	"os"
	"strings"

	"github.com/csisim/csisim/sim/expect"
	"github.com/csisim/csisim/sim/scenario/manifest"
	"github.com/csisim/csisim/sim/scenario/strict"
	"github.com/csisim/csisim/sim/store"
)

// Apply creates objects, or changes them to what is given, as kubectl apply does.
// Each manifest is YAML text, the path of a file with it, or a typed object such as
// *corev1.Pod.
func (c *Cluster) Apply(manifests ...any) {
	c.t.Helper()
	for _, m := range manifests {
		objects, err := objectsOf(m)
		c.must(err, "apply manifests")
		for _, obj := range objects {
			name := strings.ToLower(obj.GetObjectKind().GroupVersionKind().Kind) + "/" + obj.GetName() + obj.GetGenerateName()
			c.say("apply " + name)
			_, err := c.Simulation.Apply(obj)
			c.must(err, "apply "+name)
		}
	}
}

// objectsOf reads one of the forms of a manifest.
func objectsOf(m any) ([]store.Object, error) {
	switch m := m.(type) {
	case store.Object:
		res, err := store.ResourceOf(m)
		if err != nil {
			return nil, err
		}
		typed := m.DeepCopyObject().(store.Object)
		typed.GetObjectKind().SetGroupVersionKind(res.GVK)
		return []store.Object{typed}, nil
	case []byte:
		return decode(strict.Source{File: "manifest", Text: m})
	case string:
		if isYAML(m) {
			return decode(strict.Source{File: "manifest", Text: []byte(m)})
		}
		text, err := os.ReadFile(m)
		if err != nil {
			return nil, err
		}
		return decode(strict.Source{File: m, Text: text})
	}
	return nil, fmt.Errorf("it is a %T; give YAML text, the path of a file or a typed object such as *corev1.Pod", m)
}

// isYAML tells YAML text from the path of a file.
func isYAML(text string) bool { return strings.ContainsAny(text, "\n{") }

func decode(source strict.Source) ([]store.Object, error) {
	read, problems := manifest.DecodeText(source)
	if err := problems.Err(); err != nil {
		return nil, err
	}
	objects := make([]store.Object, len(read))
	for i, o := range read {
		obj, ok := o.Object.(store.Object)
		if _, kept := store.ResourceFor(o.GetObjectKind().GroupVersionKind()); !ok || !kept {
			return nil, fmt.Errorf("%v: the cluster keeps no objects of this kind", o)
		}
		objects[i] = obj
	}
	return objects, nil
}

// Delete asks for the deletion of objects and does not wait for its end. They are
// named as for kubectl: "pod/web", "pvc/team-a/data"; * stands for any text.
func (c *Cluster) Delete(refs ...string) {
	c.t.Helper()
	for _, text := range refs {
		ref, err := expect.ParseReference(text)
		c.must(err, "delete")
		c.say("delete " + text)
		var found []store.Object
		c.Exclusively(func() { found = ref.Find(c.World.Store) })
		if len(found) == 0 {
			c.must(fmt.Errorf("there is no %v", ref), "delete "+text)
		}
		for _, obj := range found {
			c.must(c.Simulation.Delete(ref.Resource, store.KeyOf(obj)), "delete "+text)
		}
	}
}
