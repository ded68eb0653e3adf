package provisioner

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/container-storage-interface/spec/lib/go/csi"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// dataSource is the initial content of a new volume; the zero value is none.
type dataSource struct {
	group, kind string
	key         store.Key
}

const (
	claimKind    = "PersistentVolumeClaim"
	snapshotKind = "VolumeSnapshot"
)

func (s dataSource) isClaim() bool    { return s.kind == claimKind }
func (s dataSource) isSnapshot() bool { return s.kind == snapshotKind }

// dataSourceOf: dataSource takes precedence over dataSourceRef. C-PROV-42
func (c *Provisioner) dataSourceOf(pvc claim) (dataSource, error) {
	if from := pvc.Spec.DataSource; from != nil {
		return dataSource{deref(from.APIGroup), from.Kind, store.Key{Namespace: pvc.Namespace, Name: from.Name}}, nil
	}
	ref := pvc.Spec.DataSourceRef
	if ref == nil {
		return dataSource{}, nil
	}
	from := dataSource{deref(ref.APIGroup), ref.Kind, store.Key{Namespace: pvc.Namespace, Name: ref.Name}}
	switch namespace := deref(ref.Namespace); {
	case namespace != "" && !c.options.CrossNamespaceVolumeDataSource:
		return dataSource{}, errors.New("dataSourceRef namespace specified but the CrossNamespaceVolumeDataSource feature is disabled")
	case namespace != "":
		from.key.Namespace = namespace
	}
	return from, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// sourceFor finds the source of the claim's volume and protects it while the driver works. Claims
// with sources of other kinds are left to populators. C-PROV-20, C-PROV-42
func (c *Provisioner) sourceFor(pvc claim) (dataSource, result) {
	from, err := c.dataSourceOf(pvc)
	if err == nil && from.kind != "" && from.key.Namespace != pvc.Namespace {
		err = c.checkGrants(pvc, from)
	}
	switch {
	case err != nil:
		return from, result{state: finished, err: err}
	case from.isSnapshot() && from.group != snapshotv1.GroupName:
		return from, result{state: finished, err: fmt.Errorf("the PVC source does not belong to the right APIGroup. Expected %s, Got %s", snapshotv1.GroupName, from.group)}
	case from.kind != "" && !from.isSnapshot() && !from.isClaim():
		c.EventFrom("external-provisioner", pvc, corev1.EventTypeNormal, "Provisioning", "Assuming an external populator will provision the volume")
		return from, result{state: finished, err: errStop}
	}
	return from, result{}
}

// contentSource returns the source for the driver's request; nil without a source.
func (c *Provisioner) contentSource(p *kernel.Process, pvc claim, class *storagev1.StorageClass, from dataSource) (*csi.VolumeContentSource, error) {
	var content *csi.VolumeContentSource
	var err error
	switch {
	case from.isClaim():
		content, err = c.claimSource(p, pvc, class, from.key)
	case from.isSnapshot():
		content, err = c.snapshotSource(p, pvc, class, from.key)
	default:
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("error getting handle for DataSource Type %s by Name %s: %w", from.kind, from.key.Name, err)
	}
	if from.isClaim() {
		return content, c.protectClaim(p, from.key)
	}
	return content, c.protectSnapshot(p, from.key)
}

var errBrokenClaim = errors.New("claim in dataSource not bound or invalid")

// claimSource: C-PROV-41
func (c *Provisioner) claimSource(p *kernel.Process, pvc claim, class *storagev1.StorageClass, key store.Key) (*csi.VolumeContentSource, error) {
	source, ok := component.Cached[claim](c.Component, key)
	if !ok {
		return nil, fmt.Errorf("error getting PVC %s (namespace %q) from api server: %w", key.Name, key.Namespace, store.NotFound[claim](key))
	}
	want, has := pvc.Spec.Resources.Requests.Storage().Value(), source.Spec.Resources.Requests.Storage().Value()
	switch {
	case source.Status.Phase != corev1.ClaimBound:
		return nil, fmt.Errorf("the PVC DataSource %s must have a status of Bound.  Got %v", key.Name, source.Status)
	case source.DeletionTimestamp != nil:
		return nil, fmt.Errorf("the PVC DataSource %s is currently being deleted", key.Name)
	case source.Spec.StorageClassName == nil:
		return nil, fmt.Errorf("the source PVC (%s) storageclass cannot be empty", source.Name)
	case pvc.Spec.StorageClassName == nil:
		return nil, fmt.Errorf("the requested PVC (%s) storageclass cannot be empty", pvc.Name)
	case want < has:
		return nil, fmt.Errorf("error, new PVC request must be greater than or equal in size to the specified PVC data source, requested %v but source is %v", want, has)
	case source.Spec.VolumeName == "":
		return nil, fmt.Errorf("volume name is empty in source PVC %s", source.Name)
	}
	pv, err := component.Live[*corev1.PersistentVolume](p, c.Component, store.Key{Name: source.Spec.VolumeName})
	if err != nil || !holds(pv, source, class.Provisioner) {
		return nil, errBrokenClaim
	}
	switch block, was := volume.IsBlock(pvc.Spec.VolumeMode), volume.IsBlock(pv.Spec.VolumeMode); {
	case !block && was:
		return nil, errors.New("the source PVC and destination PVCs must have the same volume mode for cloning.  Source is Block, but new PVC requested Filesystem")
	case block && !was:
		return nil, errors.New("the source PVC and destination PVCs must have the same volume mode for cloning.  Source is Filesystem, but new PVC requested Block")
	}
	return &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Volume{
		Volume: &csi.VolumeContentSource_VolumeSource{VolumeId: pv.Spec.CSI.VolumeHandle},
	}}, nil
}

// holds reports whether the volume is the driver's and bound to the claim.
func holds(pv *corev1.PersistentVolume, source claim, driver string) bool {
	ref := pv.Spec.ClaimRef
	return pv.Spec.CSI != nil && pv.Spec.CSI.Driver == driver && ref != nil &&
		ref.UID == source.UID && ref.Namespace == source.Namespace && ref.Name == source.Name && pv.Status.Phase == corev1.VolumeBound
}

// snapshotSource: C-PROV-40
func (c *Provisioner) snapshotSource(p *kernel.Process, pvc claim, class *storagev1.StorageClass, key store.Key) (*csi.VolumeContentSource, error) {
	snap, err := component.Live[*snapshotv1.VolumeSnapshot](p, c.Component, key)
	switch {
	case err != nil:
		return nil, fmt.Errorf("error getting snapshot %s from api server: %w", key.Name, err)
	case snap.DeletionTimestamp != nil && !slices.Contains(snap.Finalizers, snapshotFinalizer):
		return nil, fmt.Errorf("snapshot %s is being deleted", key.Name)
	case snapshot.BoundContent(snap) == "":
		return nil, fmt.Errorf("snapshot %s not bound", key.Name)
	}
	name := snapshot.BoundContent(snap)
	content, err := component.Live[*snapshotv1.VolumeSnapshotContent](p, c.Component, store.Key{Name: name})
	switch {
	case err != nil:
		return nil, fmt.Errorf("error getting snapshotcontent %s for snapshot %s", name, key.Name)
	case !snapshot.IsBoundTo(content, snap):
		return nil, fmt.Errorf("snapshotcontent %s for snapshot %s is bound to a different snapshot", name, key.Name)
	case content.Spec.Driver != class.Provisioner:
		return nil, fmt.Errorf("snapshotcontent %s for snapshot %s is not handled by CSI driver of StorageClass %s", name, key.Name, class.Name)
	case !snapshot.IsReady(snap):
		return nil, fmt.Errorf("snapshot %s is not Ready", key.Name)
	case content.Status == nil || content.Status.SnapshotHandle == nil:
		return nil, fmt.Errorf("snapshot handle %s is not available", key.Name)
	}
	if want, size := pvc.Spec.Resources.Requests.Storage().Value(), snap.Status.RestoreSize; size != nil && want < size.Value() {
		return nil, fmt.Errorf("requested volume size %d is less than the size %d for the source snapshot %s", want, size.Value(), key.Name)
	}
	if err := mayChangeMode(pvc, content); err != nil {
		return nil, fmt.Errorf("requested volume %s modifies the mode of the source volume but does not have permission to do so. %w", store.KeyOf(pvc), err)
	}
	return &csi.VolumeContentSource{Type: &csi.VolumeContentSource_Snapshot{
		Snapshot: &csi.VolumeContentSource_SnapshotSource{SnapshotId: *content.Status.SnapshotHandle},
	}}, nil
}

// mayChangeMode returns an error if a claim and its source have different volume modes, unless an
// annotation of the content allows it. C-SNAP-22
func mayChangeMode(pvc claim, content *snapshotv1.VolumeSnapshotContent) error {
	was, is := content.Spec.SourceVolumeMode, pvc.Spec.VolumeMode
	if was == nil || is == nil || *was == *is {
		return nil
	}
	text, ok := content.Annotations[snapshot.AllowVolumeModeChange]
	if !ok {
		return fmt.Errorf("%s annotation is not present on snapshotcontent %s", snapshot.AllowVolumeModeChange, content.Name)
	}
	allowed, err := strconv.ParseBool(text)
	switch {
	case err != nil:
		return fmt.Errorf("failed to convert %s annotation value to boolean with error: %w", snapshot.AllowVolumeModeChange, err)
	case !allowed:
		return fmt.Errorf("%s is set to false on snapshotcontent %s", snapshot.AllowVolumeModeChange, content.Name)
	}
	return nil
}
