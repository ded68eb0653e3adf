package deploy

import (
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/world/store"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Own is a driver's deployment from its own manifests.
type Own struct {
	// CSIDriver is the CSIDriver object among them; nil if there is none.
	CSIDriver *storagev1.CSIDriver
	objects   []*unstructured.Unstructured
	sources   map[*unstructured.Unstructured]manifest.Object // objects from files only
	pods      []pluginPods
}

// Objects returns the unchanged objects of the manifests, in the order in which they are applied.
func (o *Own) Objects() []*unstructured.Unstructured { return o.objects }

// Shared returns the objects that all plugins share, in their Go types: the CSIDriver object and
// the classes.
func (o *Own) Shared() (all []store.Object) {
	for _, u := range o.objects {
		var typed store.Object
		switch u.GetKind() {
		case "CSIDriver":
			typed = &storagev1.CSIDriver{}
		case "StorageClass":
			typed = &storagev1.StorageClass{}
		case "VolumeAttributesClass":
			typed = &storagev1.VolumeAttributesClass{}
		case "VolumeSnapshotClass":
			typed = &snapshotv1.VolumeSnapshotClass{}
		default:
			continue
		}
		// The previous strict reading has rejected fields of other types.
		if runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, typed) == nil {
			all = append(all, typed)
		}
	}
	return all
}

// HasNode reports whether a plugin of the driver registers with kubelets.
func (o *Own) HasNode() bool {
	return slices.ContainsFunc(o.pods, func(p pluginPods) bool { return p.part("node") != nil })
}

// OnEveryNode reports whether a plugin of the driver registers on every node.
func (o *Own) OnEveryNode() bool {
	return slices.ContainsFunc(o.pods, func(p pluginPods) bool { return p.kind == "DaemonSet" && p.part("node") != nil })
}

// HasController reports whether sidecars call a controller plugin.
func (o *Own) HasController() bool {
	return slices.ContainsFunc(o.pods, func(p pluginPods) bool { return p.part("controller") != nil })
}

// Sidecars returns the sidecars in the pods, except the registrar, sorted.
func (o *Own) Sidecars() (names []string) {
	for _, p := range o.pods {
		for _, s := range p.sidecars {
			if s.name != registrarCaller {
				names = append(names, s.name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Flags returns the flags of a sidecar by name, such as --timeout. It omits the flags that every
// deployment must set.
func (o *Own) Flags(sidecar string) map[string]string {
	for _, p := range o.pods {
		for _, s := range p.sidecars {
			if s.name == sidecar {
				return s.flags
			}
		}
	}
	return nil
}

// Tag returns the tag of a sidecar's image; empty for none.
func (o *Own) Tag(sidecar string) string {
	for _, p := range o.pods {
		for _, s := range p.sidecars {
			if s.name == sidecar {
				image, _, _ := strings.Cut(path.Base(p.template.Spec.Containers[s.container].Image), "@")
				_, tag, _ := strings.Cut(image, ":")
				return tag
			}
		}
	}
	return ""
}

// Container returns the name of a sidecar's container in the driver's pods.
func (o *Own) Container(sidecar string) string {
	for _, p := range o.pods {
		for _, s := range p.sidecars {
			if s.name == sidecar {
				return p.template.Spec.Containers[s.container].Name
			}
		}
	}
	return sidecar
}

// Liveness returns the livenessProbe of the driver's container; nil if it has none.
func (o *Own) Liveness() *corev1.Probe {
	for _, p := range o.pods {
		if probe := p.template.Spec.Containers[p.driver].LivenessProbe; probe != nil {
			return probe
		}
	}
	return nil
}

// Replicas returns the number of controller plugins; 0 means one.
func (o *Own) Replicas() uint {
	for _, p := range o.pods {
		if p.replicas > 1 && p.part("controller") != nil {
			return uint(p.replicas)
		}
	}
	return 0
}

// Defines reports whether the manifests define kinds of an API group.
func (o *Own) Defines(group string) bool {
	return slices.ContainsFunc(o.objects, func(u *unstructured.Unstructured) bool {
		defined, _, _ := unstructured.NestedString(u.Object, "spec", "group")
		return u.GetKind() == "CustomResourceDefinition" && defined == group
	})
}

// Images returns the images of all pods, after the replacements in the options.
func (o *Own) Images(with Options) (all []string) {
	for _, object := range o.objects {
		template, ok := templateOf(object)
		if !ok {
			continue
		}
		with.replaceImages(&template.Spec)
		for _, c := range slices.Concat(template.Spec.InitContainers, template.Spec.Containers) {
			all = append(all, c.Image)
		}
	}
	return all
}

// Plugins returns the workloads with plugins, and the changes in their pods for recording proxies,
// one per line.
func (o *Own) Plugins() (lines []string) {
	for _, p := range o.pods {
		lines = append(lines, p.String())
	}
	return lines
}

// Owns reports whether an object belongs to the deployment or results from it: a pod or a
// ReplicaSet of one of its workloads.
func (o *Own) Owns(kind, namespace, name string) bool {
	isMade := kind == "Pod" || kind == "ReplicaSet"
	return slices.ContainsFunc(o.objects, func(u *unstructured.Unstructured) bool {
		switch {
		case u.GetNamespace() != namespace:
			return false
		case u.GetKind() == kind && u.GetName() == name:
			return true
		}
		return isMade && makesPods(u) && strings.HasPrefix(name, u.GetName()+"-")
	})
}

func makesPods(u *unstructured.Unstructured) bool {
	_, found, err := unstructured.NestedFieldNoCopy(u.Object, "spec", "template", "spec")
	return err == nil && found
}

// ownManifests returns the unchanged objects. For a run, the objects get its labels, and their pods
// get the recording proxies.
func (m maker) ownManifests() (all []runtime.Object) {
	for _, object := range m.Own.objects {
		object = object.DeepCopy()
		if m.Proxy != "" {
			m.label(object)
			if i := slices.IndexFunc(m.Own.pods, func(p pluginPods) bool { return p.is(object) }); i >= 0 {
				setTemplate(object, m.proxied(m.Own.pods[i]))
			}
		}
		all = append(all, object)
	}
	return all
}

// label marks an object as part of the driver's deployment.
func (m maker) label(object *unstructured.Unstructured) {
	labels := object.GetLabels()
	if labels == nil {
		labels = map[string]string{}
	}
	labels[ManagedBy], labels[DriverLabel] = By, m.slug
	object.SetLabels(labels)
}
