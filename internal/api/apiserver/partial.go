package apiserver

import (
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// partialOf returns the metadata of an object, or of a list's objects.
func partialOf(obj runtime.Object, m mediaTypeOptions) (runtime.Object, error) {
	version := metav1.GroupName + "/" + m.params["v"]
	if !meta.IsListType(obj) {
		accessor, err := meta.Accessor(obj)
		if err != nil {
			return nil, err
		}
		return onePartial(accessor, version), nil
	}
	list := &metav1.PartialObjectMetadataList{
		TypeMeta: metav1.TypeMeta{Kind: "PartialObjectMetadataList", APIVersion: version},
		Items:    []metav1.PartialObjectMetadata{},
	}
	if from, ok := obj.(metav1.ListInterface); ok {
		list.ResourceVersion, list.Continue, list.RemainingItemCount = from.GetResourceVersion(), from.GetContinue(), from.GetRemainingItemCount()
	}
	err := meta.EachListItem(obj, func(item runtime.Object) error {
		accessor, err := meta.Accessor(item)
		if err == nil {
			list.Items = append(list.Items, *onePartial(accessor, version))
		}
		return err
	})
	return list, err
}

func onePartial(obj metav1.Object, version string) *metav1.PartialObjectMetadata {
	partial := meta.AsPartialObjectMetadata(obj)
	partial.TypeMeta = metav1.TypeMeta{Kind: "PartialObjectMetadata", APIVersion: version}
	return partial
}
