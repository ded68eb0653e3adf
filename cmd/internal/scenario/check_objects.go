package scenario

import (
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
)

// checkObject reports references of a manifest to objects that do not exist.
func (c *checker) checkObject(o manifest.Object) {
	if o.IsCustom() {
		return // see checkDefinitions
	}
	gvk := o.GetObjectKind().GroupVersionKind()
	res, ok := store.ResourceFor(gvk)
	if !ok {
		if kept := keptVersions(gvk.GroupKind()); len(kept) > 0 {
			c.problems = append(c.problems, o.NoKind(kept...))
			return
		}
		c.wrong(o, "kind", fmt.Sprintf("kind %q of %s", gvk.Kind, gvk.GroupVersion()), "a kind that csisim keeps", kindsLike(gvk))
		return
	}
	c.checkKindOfVersion(o)
	if gvk.Kind != "CustomResourceDefinition" { // see checkDefinitions
		c.checkRules(res, o)
	}
	switch object := o.Object.(type) {
	case *corev1.Pod:
		c.checkPod(o, "spec", object.Namespace, &object.Spec)
	case *appsv1.StatefulSet:
		c.checkStatefulSet(o, object)
	case *appsv1.Deployment:
		c.checkPod(o, "spec.template.spec", object.Namespace, &object.Spec.Template.Spec)
	case *corev1.PersistentVolumeClaim:
		c.checkClaim(o, "spec", object.Namespace, &object.Spec)
	case *corev1.PersistentVolume:
		c.checkVolume(o, object)
	case *storagev1.StorageClass:
		c.knownDriver(o, "provisioner", object.Provisioner)
	case *legacy.CSIDriver:
		c.knownDriver(o, "metadata.name", object.Name)
	case *storagev1.CSIDriver:
		c.knownDriver(o, "metadata.name", object.Name)
	}
}

func (c *checker) wrong(o manifest.Object, path, found, want string, known []string) {
	_, word, _ := strings.Cut(found, `"`)
	word, _, _ = strings.Cut(word, `"`)
	slices.Sort(known)
	c.problems = append(c.problems, o.Problem(path, found, want, strict.Nearest(word, known)))
}

// missing reports a reference to an object that no manifest makes.
func (c *checker) missing(o manifest.Object, path, resource, kind, namespace, name string) {
	if c.makes(resource, namespace, name) {
		return
	}
	known := c.made.names(resource, namespace)
	slices.Sort(known)
	want := fmt.Sprintf("a %s that a manifest of this scenario makes", kind)
	if len(known) > 0 {
		want += ": " + strings.Join(known, ", ")
	}
	c.wrong(o, path, fmt.Sprintf("%s %q", kind, name), want, known)
}

// makes reports whether a manifest creates an object.
func (c *checker) makes(resource, namespace, name string) bool {
	key := store.Key{Namespace: namespace, Name: name}
	_, made := c.made.firstMade(resource, key)
	return made || c.made.isGenerated(resource, key)
}

func (c *checker) checkPod(o manifest.Object, path, namespace string, spec *corev1.PodSpec) {
	namespace = orDefault(namespace)
	if spec.NodeName != "" {
		if nodes := c.nodeNames(); !slices.Contains(nodes, spec.NodeName) {
			c.wrong(o, path+".nodeName", fmt.Sprintf("node %q", spec.NodeName), "a node of this scenario: "+strings.Join(nodes, ", "), nodes)
		}
	}
	for i, v := range spec.Volumes {
		at := fmt.Sprintf("%s.volumes[%d]", path, i)
		switch {
		case v.PersistentVolumeClaim != nil:
			c.missing(o, at+".persistentVolumeClaim.claimName", "persistentvolumeclaims", "claim", namespace, v.PersistentVolumeClaim.ClaimName)
		case v.CSI != nil:
			c.knownDriver(o, at+".csi.driver", v.CSI.Driver)
		case v.Ephemeral != nil && v.Ephemeral.VolumeClaimTemplate != nil:
			c.checkClaim(o, at+".ephemeral.volumeClaimTemplate.spec", namespace, &v.Ephemeral.VolumeClaimTemplate.Spec)
		}
	}
}

func (c *checker) checkStatefulSet(o manifest.Object, set *appsv1.StatefulSet) {
	c.checkPod(o, "spec.template.spec", set.Namespace, &set.Spec.Template.Spec)
	for i := range set.Spec.VolumeClaimTemplates {
		c.checkClaim(o, fmt.Sprintf("spec.volumeClaimTemplates[%d].spec", i), set.Namespace, &set.Spec.VolumeClaimTemplates[i].Spec)
	}
}

func (c *checker) checkClaim(o manifest.Object, path, namespace string, spec *corev1.PersistentVolumeClaimSpec) {
	namespace = orDefault(namespace)
	const classes = "storageclasses"
	if class := spec.StorageClassName; class != nil && *class != "" && !c.makes(classes, "", *class) && !c.isStaticClass(*class) {
		c.missing(o, path+".storageClassName", classes, "storage class", "", *class)
	}
	if class := spec.VolumeAttributesClassName; class != nil && *class != "" {
		c.missing(o, path+".volumeAttributesClassName", "volumeattributesclasses", "volume attributes class", "", *class)
	}
	if of, ok := volumeOf(spec); ok {
		c.missingClaim(o, path+".volumeName", of)
	} else if spec.VolumeName != "" && !strings.HasPrefix(spec.VolumeName, "pvc-") {
		c.missing(o, path+".volumeName", "persistentvolumes", "persistent volume", "", spec.VolumeName)
	}
	if source := spec.DataSource; source != nil && source.Kind == "PersistentVolumeClaim" {
		c.missing(o, path+".dataSource.name", "persistentvolumeclaims", "claim", namespace, source.Name)
	}
	if claim, ok := snapshotOf(spec.DataSource); ok {
		c.missing(o, path+".dataSource.name", "persistentvolumeclaims", "claim", namespace, claim)
	}
}

// missingClaim reports a claim that no manifest makes. Its name may begin with a namespace;
// otherwise it is in the default namespace.
func (c *checker) missingClaim(o manifest.Object, path, claim string) {
	namespace, name, ok := strings.Cut(claim, "/")
	if !ok {
		namespace, name = corev1.NamespaceDefault, claim
	}
	c.missing(o, path, "persistentvolumeclaims", "claim", namespace, name)
}

// isStaticClass reports whether a PersistentVolume of the manifests has the class. In this case no
// StorageClass object of that name is needed.
func (c *checker) isStaticClass(class string) bool {
	isStatic := func(o manifest.Object) bool {
		pv, ok := o.Object.(*corev1.PersistentVolume)
		return ok && pv.Spec.StorageClassName == class
	}
	if slices.ContainsFunc(c.scenario.objects, isStatic) {
		return true
	}
	return slices.ContainsFunc(c.scenario.Steps, func(s Step) bool {
		apply, ok := s.action.(*applyStep)
		return ok && slices.ContainsFunc(apply.objects, isStatic)
	})
}

func (c *checker) checkVolume(o manifest.Object, pv *corev1.PersistentVolume) {
	if pv.Spec.CSI != nil {
		c.knownDriver(o, "spec.csi.driver", pv.Spec.CSI.Driver)
	}
}

// knownDriver reports a driver that the scenario does not have. Kubernetes' own provisioners are
// not drivers.
func (c *checker) knownDriver(o manifest.Object, path, name string) {
	names, all := c.driverNames()
	if !all || slices.Contains(names, name) || name == "" || strings.HasPrefix(name, "kubernetes.io/") {
		return
	}
	want := "a driver of this scenario: " + strings.Join(names, ", ")
	if len(names) == 0 {
		want = "an entry in drivers of that name"
	}
	c.wrong(o, path, fmt.Sprintf("driver %q", name), want, names)
}

// keptVersions returns the apiVersions in which csisim stores a built-in kind.
func keptVersions(kind schema.GroupKind) []string {
	var kept []string
	for _, res := range store.Resources() {
		if res.GVK.GroupKind() == kind {
			kept = append(kept, res.GVK.GroupVersion().String())
		}
	}
	return kept
}

func kindsLike(gvk schema.GroupVersionKind) []string {
	var kinds []string
	for _, res := range store.Resources() {
		if res.GVK.Group == gvk.Group {
			kinds = append(kinds, res.GVK.Kind)
		}
	}
	return kinds
}

func orDefault(namespace string) string {
	if namespace == "" {
		return corev1.NamespaceDefault
	}
	return namespace
}
