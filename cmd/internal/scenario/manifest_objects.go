package scenario

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

// manifestObjects holds the objects from a scenario's manifests, with the first step that creates
// each of them; -1 means at the start.
type manifestObjects struct {
	objects   map[string]map[store.Key]int // by resource
	generated []generated
}

// generated describes objects that controllers create; their names begin with the prefix.
type generated struct {
	resource, namespace, prefix string
}

func newManifestObjects() manifestObjects {
	return manifestObjects{objects: map[string]map[store.Key]int{}}
}

func (m *manifestObjects) add(step int, o manifest.Object) {
	res, ok := store.ResourceFor(o.GetObjectKind().GroupVersionKind())
	if !ok {
		return
	}
	key := keyIn(res, o)
	if o.Meta().GetName() == "" {
		m.generated = append(m.generated, generated{res.GVR.Resource, key.Namespace, o.Meta().GetGenerateName()})
		return
	}
	m.put(step, res.GVR.Resource, key)
	switch object := o.Object.(type) {
	case *appsv1.StatefulSet:
		m.addStatefulSet(key, object)
	case *appsv1.Deployment, *appsv1.ReplicaSet, *appsv1.DaemonSet:
		m.generated = append(m.generated, generated{"pods", key.Namespace, key.Name + "-"})
	case *corev1.Pod:
		m.addEphemeral(step, key, object)
	}
	if strings.HasSuffix(res.GVK.Kind, "Job") {
		m.generated = append(m.generated, generated{"pods", key.Namespace, key.Name + "-"})
	}
}

func (m *manifestObjects) put(step int, resource string, key store.Key) {
	if m.objects[resource] == nil {
		m.objects[resource] = map[store.Key]int{}
	}
	if first, known := m.objects[resource][key]; !known || step < first {
		m.objects[resource][key] = step
	}
}

func (m *manifestObjects) addStatefulSet(key store.Key, set *appsv1.StatefulSet) {
	m.generated = append(m.generated, generated{"pods", key.Namespace, key.Name + "-"})
	for _, template := range set.Spec.VolumeClaimTemplates {
		prefix := template.Name + "-" + key.Name + "-"
		m.generated = append(m.generated, generated{"persistentvolumeclaims", key.Namespace, prefix})
	}
}

// addEphemeral adds the claims for a pod's generic ephemeral volumes.
func (m *manifestObjects) addEphemeral(step int, key store.Key, pod *corev1.Pod) {
	for _, v := range pod.Spec.Volumes {
		if v.Ephemeral != nil {
			m.put(step, "persistentvolumeclaims", store.Key{Namespace: key.Namespace, Name: key.Name + "-" + v.Name})
		}
	}
}

func (m *manifestObjects) isGenerated(resource string, key store.Key) bool {
	return slices.ContainsFunc(m.generated, func(g generated) bool {
		return g.resource == resource && g.namespace == key.Namespace && strings.HasPrefix(key.Name, g.prefix)
	})
}

// firstMade returns the step that first creates an object, or false if no manifest does.
func (m *manifestObjects) firstMade(resource string, key store.Key) (int, bool) {
	step, ok := m.objects[resource][key]
	return step, ok
}

func (m *manifestObjects) names(resource, namespace string) []string {
	var names []string
	for key := range m.objects[resource] {
		if key.Namespace == namespace {
			names = append(names, key.Name)
		}
	}
	return names
}

// whole lists the resources of which only manifests create objects. The control plane itself
// creates objects of all other resources.
var whole = map[string]bool{
	"pods": true, "persistentvolumeclaims": true, "storageclasses": true, "statefulsets": true,
	"deployments": true, "daemonsets": true, "replicasets": true, "volumeattributesclasses": true,
}

// object reports a reference to an object that cannot exist at this step.
func (c *checker) object(r expect.Reference) {
	resource := r.Resource.GVR.Resource
	key := store.Key{Namespace: r.Namespace, Name: r.Name}
	switch {
	case kind.DefinitionOf(r.Resource) != nil:
		c.defined(r)
	case r.ByClaim():
		c.claimOf(r)
	case r.Many() || c.made.isGenerated(resource, key):
	case resource == "nodes" || resource == "csinodes":
		c.node(r.Word, r.Name)
	case resource == "csidrivers":
		c.csiDriver(r.Word, r.Name)
	case whole[resource]:
		c.madeBefore(r.Word, resource, key)
	}
}

// defined reports a reference to an object of a kind that is not defined at this step.
func (c *checker) defined(r expect.Reference) {
	kind := r.Resource.GVK.GroupKind()
	if c.definitions.from[kind] >= c.number {
		at := c.definitions.at[kind]
		c.report(r.Word, fmt.Sprintf("kind %q, which %s:%d defines only later", kind.Kind, at.File, at.At.Line), "a kind that is defined before this step")
	}
}

// maxNamed bounds the names in a message.
const maxNamed = 20

// madeBefore reports an object that no manifest makes before the current step.
func (c *checker) madeBefore(field, resource string, key store.Key) {
	first, ok := c.made.firstMade(resource, key)
	what := fmt.Sprintf("%s %q", strings.TrimSuffix(field, "s"), key.Name)
	switch {
	case !ok:
		known := c.made.names(resource, key.Namespace)
		slices.Sort(known)
		want := "an object that a manifest of this scenario makes"
		if len(known) > 0 {
			want += ": " + strings.Join(known[:min(len(known), maxNamed)], ", ")
		}
		c.document.ReportUnknown(c.in(field), what, key.Name, want, known)
	case first >= c.number:
		c.report(field, fmt.Sprintf("%s, which is only made in line %d", what, c.scenario.Steps[first].Line),
			"an object that is made before this step")
	}
}

func (c *checker) claimOf(r expect.Reference) {
	if !r.HasClaim() {
		c.report(r.Word, fmt.Sprintf("%s %q", r.Word, r.Name), "a name; only a PersistentVolume, VolumeAttachment or VolumeSnapshot is named by its claim")
	}
}

func (c *checker) csiDriver(field, name string) {
	if _, ok := c.made.firstMade("csidrivers", store.Key{Name: name}); !ok {
		c.driver(field, name)
	}
}

func keyIn(res *store.Resource, o manifest.Object) store.Key {
	key := store.Key{Name: o.Meta().GetName()}
	if res.Namespaced {
		key.Namespace = o.Meta().GetNamespace()
		if key.Namespace == "" {
			key.Namespace = corev1.NamespaceDefault
		}
	}
	return key
}
