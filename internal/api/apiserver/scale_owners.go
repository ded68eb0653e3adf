package apiserver

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// appliedScale sets the number of replicas that a manager applies, unless it belongs to another
// manager.
func (p *patcher) appliedScale(live *autoscalingv1.Scale) (*autoscalingv1.Scale, error) {
	patch := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(p.body, &patch.Object); err != nil {
		return nil, badRequest("error decoding YAML: %v", err)
	}
	fields, err := managerOfScales()
	if err != nil {
		return nil, err
	}
	merged, err := fields.Apply(live, patch, p.options.fieldManager, p.force)
	if err != nil {
		return nil, err
	}
	return merged.(*autoscalingv1.Scale), p.strictly(scales.gvk, scales.newObject())
}

// ownedScale makes the manager of a write the owner of the scale's fields that the write changes.
func ownedScale(live, wanted *autoscalingv1.Scale, manager string) (*autoscalingv1.Scale, error) {
	fields, err := managerOfScales()
	if err != nil {
		return nil, err
	}
	return fields.UpdateNoErrors(live, wanted, manager).(*autoscalingv1.Scale), nil
}

// scales is the kind of scale subresources, which is not served by itself.
var scales = &servedKind{gvk: kind.ScaleKind, res: &store.Resource{New: func() store.Object { return &autoscalingv1.Scale{} }}}

// managerOfScales returns the manager of the fields of scale subresources.
func managerOfScales() (*managedfields.FieldManager, error) { return managerOf(scales, scalePart) }

// replicasPaths returns the paths of the wanted number of replicas in each version of the kind.
func (k *servedKind) replicasPaths() managedfields.ResourcePathMappings {
	paths := managedfields.ResourcePathMappings{}
	if k.custom == nil {
		for _, version := range versionsOf(k) {
			paths[version.gvk.GroupVersion().String()] = fieldpath.MakePathOrDie("spec", "replicas")
		}
		return paths
	}
	for _, version := range k.custom.definition.Versions {
		name := k.gvk.Group + "/" + version.Spec.Name
		paths[name] = nil // fields of a version without the subresource keep their owners
		if scale := version.Scale(); scale != nil {
			paths[name] = pathOf(fieldPath(scale.SpecReplicasPath))
		}
	}
	return paths
}

func pathOf(names []string) (path fieldpath.Path) {
	for _, name := range names {
		path = append(path, fieldpath.PathElement{FieldName: &name})
	}
	return path
}
