package apiserver

import (
	"encoding/json"
	"fmt"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	groupv1beta1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta1"
	groupv1beta2 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/store"
)

// olderGroupSnapshots are the kind in the versions that came before v1, if it is one of
// group snapshots. The project's definitions have no conversion: what a version does not
// know is not shown in it, as the snapshots in the status of a content are not in
// v1beta1. C-GSNAP-1
func olderGroupSnapshots(k *servedKind) (kinds []*servedKind) {
	if k.gvk.Group != groupv1.GroupName {
		return nil
	}
	for _, gv := range []schema.GroupVersion{groupv1beta2.SchemeGroupVersion, groupv1beta1.SchemeGroupVersion} {
		older := *k
		older.gvk, older.gvr = gv.WithKind(k.gvk.Kind), gv.WithResource(k.gvr.Resource)
		older.form = &form{
			new:     func() store.Object { return newTyped(older.gvk) },
			present: func(obj store.Object) store.Object { return recast(obj, older.gvk) },
			accept:  func(obj store.Object) store.Object { return recast(obj, k.gvk) },
		}
		if gv == groupv1beta1.SchemeGroupVersion {
			older.warning = fmt.Sprintf("%s %s is deprecated; use %s %s", gv, k.gvk.Kind, k.gvk.GroupVersion(), k.gvk.Kind)
		}
		kinds = append(kinds, &older)
	}
	return kinds
}

func newTyped(gvk schema.GroupVersionKind) store.Object {
	obj, err := moreTypes.New(gvk)
	if err != nil {
		panic(fmt.Sprintf("apiserver: %v", err))
	}
	return obj.(store.Object)
}

// recast is an object in another version: the fields that both have.
func recast(obj store.Object, gvk schema.GroupVersionKind) store.Object {
	into := newTyped(gvk)
	if err := copyFields(obj, into); err != nil {
		panic(fmt.Sprintf("apiserver: %s as %s: %v", obj.GetName(), gvk, err))
	}
	into.GetObjectKind().SetGroupVersionKind(gvk)
	return into
}

func copyFields(from, into any) error {
	text, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// addGroupSnapshots enters the types of all versions, and how fields that are owned in
// one of them are found in another.
func addGroupSnapshots(s *runtime.Scheme) error {
	for _, add := range []func(*runtime.Scheme) error{groupv1.AddToScheme, groupv1beta2.AddToScheme, groupv1beta1.AddToScheme} {
		if err := add(s); err != nil {
			return err
		}
	}
	versions := [][]runtime.Object{
		{&groupv1.VolumeGroupSnapshot{}, &groupv1beta2.VolumeGroupSnapshot{}, &groupv1beta1.VolumeGroupSnapshot{}},
		{&groupv1.VolumeGroupSnapshotClass{}, &groupv1beta2.VolumeGroupSnapshotClass{}, &groupv1beta1.VolumeGroupSnapshotClass{}},
		{&groupv1.VolumeGroupSnapshotContent{}, &groupv1beta2.VolumeGroupSnapshotContent{}, &groupv1beta1.VolumeGroupSnapshotContent{}},
	}
	for _, same := range versions {
		for _, from := range same {
			for _, to := range same {
				if from == to {
					continue
				}
				err := s.AddConversionFunc(from, to, func(a, b any, _ conversion.Scope) error { return copyFields(a, b) })
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
