package apiserver

import (
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	groupv1beta1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta1"
	groupv1beta2 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1beta2"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/api/kind"
)

// addGroupSnapshots adds the types of all versions, and the conversion of owned fields between
// them.
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
				err := s.AddConversionFunc(from, to, func(a, b any, _ conversion.Scope) error { return kind.CopyFields(a, b) })
				if err != nil {
					return err
				}
			}
		}
	}
	return nil
}
