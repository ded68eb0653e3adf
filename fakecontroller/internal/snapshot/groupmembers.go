package snapshot

import (
	"errors"
	"fmt"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// makeMembers makes a snapshot and a content for each volume of a group snapshot. Each step reuses
// the results of an earlier attempt. C-GSNAP-6
func (c *Controller) makeMembers(p *kernel.Process, g groupSnapshot, of groupContent) error {
	if of.Status == nil || of.Status.VolumeGroupSnapshotHandle == nil || len(of.Status.VolumeSnapshotInfoList) == 0 {
		return nil
	}
	secret, err := c.memberSecret(g, of)
	if err != nil {
		return err
	}
	for i := range of.Status.VolumeSnapshotInfoList {
		if err := c.makeMember(p, g, of, &of.Status.VolumeSnapshotInfoList[i], secret); err != nil {
			return err
		}
	}
	return nil
}

// memberSecret returns the secret for calls to the driver about the members.
func (c *Controller) memberSecret(g groupSnapshot, of groupContent) (*corev1.SecretReference, error) {
	name := *g.Spec.VolumeGroupSnapshotClassName
	found, err := c.groupClass(name)
	if err != nil {
		return nil, fmt.Errorf("getGroupSnapshotSecret: failed to get volume snapshot class %s: %q", name, err)
	}
	secret, err := snapshot.GroupSnapshotter.Of(found.Parameters, "volumegroupsnapshot", of.Name, nil)
	if err != nil {
		return nil, fmt.Errorf("getGroupSnapshotSecret: failed to get secret reference for group snapshot content %s: %w", of.Name, err)
	}
	return secret, nil
}

func (c *Controller) makeMember(p *kernel.Process, g groupSnapshot, of groupContent, cut *groupv1.VolumeSnapshotInfo, secret *corev1.SecretReference) error {
	failed := func(doing string, err error) error {
		return fmt.Errorf("createIndividualSnapshotForGroupSnapshot: %s %w", doing, err)
	}
	pv := c.volumeByHandle(of.Spec.Driver, cut.VolumeHandle)
	madeContent, err := createOrGet(p, c, memberContent(g, of, cut.VolumeHandle, pv, secret))
	if err != nil {
		return failed("creating volumesnapshotcontent", err)
	}
	made, err := createOrGet(p, c, member(g, cut.VolumeHandle, pv))
	if err != nil {
		return failed("error creating or fetching volumesnapshot", err)
	}
	_, err = component.Patch(p, c.Component, store.KeyOf(madeContent), func(now content) { now.Spec.VolumeSnapshotRef.UID = made.UID })
	if err != nil {
		return failed("binding volumesnapshotcontent to volumesnapshot", err)
	}
	_, err = component.PatchStatus(p, c.Component, store.KeyOf(made), func(now volumeSnapshot) {
		now.Status = &status{BoundVolumeSnapshotContentName: &madeContent.Name}
	})
	if err != nil {
		return failed("binding volumesnapshot to volumesnapshotcontent", err)
	}
	_, err = component.PatchStatus(p, c.Component, store.KeyOf(madeContent), func(now content) {
		now.Status = &snapshotv1.VolumeSnapshotContentStatus{
			SnapshotHandle: &cut.SnapshotHandle, VolumeGroupSnapshotHandle: of.Status.VolumeGroupSnapshotHandle,
			CreationTime: cut.CreationTime, RestoreSize: cut.RestoreSize, ReadyToUse: cut.ReadyToUse,
		}
	})
	if err != nil {
		return failed("setting snapshotHandle in volumesnapshotcontent", err)
	}
	return nil
}

// createOrGet creates an object, or reads the existing one with its name.
func createOrGet[T store.Object](p *kernel.Process, c *Controller, obj T) (T, error) {
	made, err := component.Create(p, c.Component, obj)
	if apierrors.IsAlreadyExists(err) {
		return component.Live[T](p, c.Component, store.KeyOf(obj))
	}
	return made, err
}

// volumeByHandle returns the volume with a handle; nil if there is none, or several.
func (c *Controller) volumeByHandle(driver, handle string) *corev1.PersistentVolume {
	var found []*corev1.PersistentVolume
	for pv := range store.Indexed[*corev1.PersistentVolume](c.Cache, kind.VolumesByHandle, driver+"^"+handle) {
		found = append(found, pv)
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}

func memberContent(g groupSnapshot, of groupContent, handle string, pv *corev1.PersistentVolume, secret *corev1.SecretReference) content {
	name, contentName := snapshot.MemberNames(g, handle)
	made := &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: contentName, Annotations: map[string]string{snapshot.GroupHandle: *of.Status.VolumeGroupSnapshotHandle}},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			VolumeSnapshotRef: corev1.ObjectReference{Kind: "VolumeSnapshot", Namespace: g.Namespace, Name: name},
			DeletionPolicy:    of.Spec.DeletionPolicy,
			Driver:            of.Spec.Driver,
			Source:            snapshotv1.VolumeSnapshotContentSource{VolumeHandle: &handle},
		},
	}
	if pv != nil {
		made.Spec.SourceVolumeMode = pv.Spec.VolumeMode
	}
	if secret != nil {
		made.Annotations[snapshot.DeletionSecretName] = secret.Name
		made.Annotations[snapshot.DeletionSecretNamespace] = secret.Namespace
	}
	return made
}

func member(g groupSnapshot, handle string, pv *corev1.PersistentVolume) volumeSnapshot {
	name, _ := snapshot.MemberNames(g, handle)
	from := ""
	if pv != nil && pv.Spec.ClaimRef != nil {
		from = pv.Spec.ClaimRef.Name
	}
	return &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: g.Namespace, Name: name,
			OwnerReferences: []metav1.OwnerReference{snapshot.OwnedBy(g)},
			Finalizers:      []string{snapshot.InGroupFinalizer},
		},
		Spec: snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: &from}},
	}
}

// syncUnreadyMember waits for makeMember, and writes the state of the content.
func (c *Controller) syncUnreadyMember(p *kernel.Process, s volumeSnapshot) error {
	name := snapshot.BoundContent(s)
	if name == "" {
		return fmt.Errorf("detected group snapshot member %s with no content, retrying", store.KeyOf(s))
	}
	found, ok := c.contents.Get(store.Key{Name: name})
	if !ok {
		return fmt.Errorf("group snapshot member %s requests an non-existing content %s", store.KeyOf(s), name)
	}
	return c.single.copyStatus(p, s, found, false)
}

// groupWithHandle returns the name of the group with a driver's handle. C-SNAP-14
func (c *Controller) groupWithHandle(handle *string) (string, bool) {
	if handle == nil {
		return "", true
	}
	for found := range store.List[groupContent](c.Cache, "") {
		if found.Status != nil && found.Status.VolumeGroupSnapshotHandle != nil && *found.Status.VolumeGroupSnapshotHandle == *handle {
			return found.Spec.VolumeGroupSnapshotRef.Name, true
		}
	}
	return "", false
}

// adopt makes the group the owner of an existing snapshot. C-SNAP-17
func (c *Controller) adopt(p *kernel.Process, s volumeSnapshot) error {
	if snapshot.GroupOf(s) != "" || s.Status.VolumeGroupSnapshotName == nil || *s.Status.VolumeGroupSnapshotName == "" {
		return nil
	}
	key := store.Key{Namespace: s.Namespace, Name: *s.Status.VolumeGroupSnapshotName}
	g, ok := c.groups.Get(key)
	if !ok {
		return store.NotFound[groupSnapshot](key)
	}
	owned := s.DeepCopy()
	owned.OwnerReferences = append(owned.OwnerReferences, snapshot.OwnedBy(g))
	_, err := component.Update(p, c.Component, owned)
	return err
}

// holdInGroup prevents the separate deletion of a member: it returns an error while the group
// exists. C-SNAP-18
func (c *Controller) holdInGroup(s volumeSnapshot) error {
	if s.Status == nil || s.Status.VolumeGroupSnapshotName == nil {
		return nil
	}
	g, ok := component.Cached[groupSnapshot](c.Component, store.Key{Namespace: s.Namespace, Name: *s.Status.VolumeGroupSnapshotName})
	if !ok {
		return nil
	}
	message := fmt.Sprintf("deletion of the individual volume snapshot %s is not allowed as it belongs to group snapshot %s. "+
		"Deleting the group snapshot will trigger the deletion of all the individual volume snapshots that are part of the group.", store.KeyOf(s), store.KeyOf(g))
	c.warn(s, "SnapshotDeletePending", "%s", message)
	return errors.New(message)
}
