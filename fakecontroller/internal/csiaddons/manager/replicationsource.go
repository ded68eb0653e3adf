package manager

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// Finalizers and annotations of the replicated object. A-VR-6
const (
	replicationFinalizer = "replication.storage.openshift.io"
	claimFinalizer       = replicationPrefix + "pvc-protection"
	ownerReplication     = replicationPrefix + "volume-replication-name"
	ownerGroup           = replicationPrefix + "volume-group-replication-name"
)

// source is the replicated object: a claim with its volume, or a group. A-VR-3
type source struct {
	claim   *corev1.PersistentVolumeClaim
	group   *kinds.GroupReplication
	content *kinds.GroupContent
	volume  string // the volume's id
	id      string // the group's id
}

// message returns the source in the request to the driver.
func (s source) message() *replication.ReplicationSource {
	if s.volume == "" {
		return &replication.ReplicationSource{Type: &replication.ReplicationSource_Volumegroup{
			Volumegroup: &replication.ReplicationSource_VolumeGroupSource{VolumeGroupId: s.id},
		}}
	}
	return &replication.ReplicationSource{Type: &replication.ReplicationSource_Volume{
		Volume: &replication.ReplicationSource_VolumeSource{VolumeId: s.volume},
	}}
}

// findSource finds the replicated object, or describes its failure. A-VR-3, A-VR-4
func (v *replicationPass) findSource() (s source, what string, err error) {
	key := store.Key{Namespace: v.vr.Namespace, Name: v.vr.Spec.DataSource.Name}
	if v.vr.Spec.DataSource.Kind == claimSource {
		s, err = v.findClaim(key)
		return s, "failed to find PVC", err
	}
	s, err = v.findGroup(key)
	if apierrors.IsNotFound(err) && v.vr.DeletionTimestamp != nil {
		return s, "", nil
	}
	return s, "failed to get VolumeGroupReplication", err
}

func (v *replicationPass) findClaim(key store.Key) (s source, err error) {
	pvc, ok := component.Cached[*corev1.PersistentVolumeClaim](v.Component, key)
	switch {
	case !ok:
		return s, kinds.NotCached(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), key)
	case pvc.Status.Phase != corev1.ClaimBound:
		return s, fmt.Errorf("PVC %q is not bound to any PV", key.Name)
	case pvc.DeletionTimestamp != nil && !slices.Contains(pvc.Finalizers, claimFinalizer):
		return s, fmt.Errorf("PVC %q is marked for deletion, cannot be part of VolumeReplication", key.Name)
	}
	at := store.Key{Name: pvc.Spec.VolumeName}
	pv, ok := component.Cached[*corev1.PersistentVolume](v.Component, at)
	if !ok {
		return s, kinds.NotCached(corev1.SchemeGroupVersion.WithKind("PersistentVolume"), at)
	}
	s.claim = pvc.DeepCopy()
	if pv.Spec.CSI != nil {
		s.volume = pv.Spec.CSI.VolumeHandle
	}
	return s, nil
}

func (v *replicationPass) findGroup(key store.Key) (s source, err error) {
	if s.group, err = kinds.Get[kinds.GroupReplication](v.Component, key); err != nil {
		return s, err
	}
	if s.group.Spec.ContentName == "" {
		return s, errors.New("VolumeGroupReplicationContentName is empty")
	}
	if s.content, err = kinds.Get[kinds.GroupContent](v.Component, store.Key{Name: s.group.Spec.ContentName}); err != nil {
		return s, err
	}
	s.id = s.content.Spec.Handle
	return s, nil
}

// own protects the replication and the replicated object. The object belongs to only one
// replication. A-VR-6
func (v *replicationPass) own() error {
	if err := v.protect(v.process, v.vr, replicationFinalizer); err != nil {
		return fmt.Errorf("failed to add finalizer (%s) to VolumeReplication resource (%s/%s) %w", replicationFinalizer, v.vr.Namespace, v.vr.Name, err)
	}
	if v.source.claim == nil {
		return v.ownGroup()
	}
	if err := v.claimFor(v.process, v.source.claim, ownerReplication, v.vr.Name); err != nil {
		return err
	}
	return v.protectClaim(v.process, v.source.claim, claimFinalizer)
}

func (v *replicationPass) ownGroup() error {
	group := v.source.group
	switch owner := group.Annotations[ownerReplication]; owner {
	case v.vr.Name:
	case "":
		if group.Annotations == nil {
			group.Annotations = map[string]string{}
		}
		group.Annotations[ownerReplication] = v.vr.Name
		if err := kinds.Update(v.process, v.Component, group); err != nil {
			return fmt.Errorf("failed to update VGR %q annotation for VolumeReplication: %w", group.Name, err)
		}
	default:
		return fmt.Errorf("VGR %q not owned by VolumeReplication %q", group.Name, v.vr.Name)
	}
	return v.protect(v.process, v.source.content, replicationFinalizer)
}

// claimFor writes the name of a replication into the replicated claim. A-VR-6
func (m *Manager) claimFor(p *kernel.Process, pvc *corev1.PersistentVolumeClaim, annotation, owner string) error {
	other := ownerGroup
	if annotation == ownerGroup {
		other = ownerReplication
	}
	if pvc.Annotations[other] != "" {
		return fmt.Errorf("PVC (%s/%s) can't be owned by both VolumeReplication and VolumeGroupReplication", pvc.Namespace, pvc.Name)
	}
	switch pvc.Annotations[annotation] {
	case owner:
		return nil
	case "":
	default:
		return fmt.Errorf("PVC (%s/%s) not owned by correct VolumeReplication/VolumeGroupReplication %q", pvc.Namespace, pvc.Name, owner)
	}
	if pvc.Annotations == nil {
		pvc.Annotations = map[string]string{}
	}
	pvc.Annotations[annotation] = owner
	if err := m.updateClaim(p, pvc); err != nil {
		return fmt.Errorf("failed to update PVC (%s/%s) annotation for replication: %w", pvc.Namespace, pvc.Name, err)
	}
	return nil
}

func (m *Manager) protectClaim(p *kernel.Process, pvc *corev1.PersistentVolumeClaim, finalizer string) error {
	if slices.Contains(pvc.Finalizers, finalizer) {
		return nil
	}
	pvc.Finalizers = append(slices.Clone(pvc.Finalizers), finalizer)
	return m.updateClaim(p, pvc)
}

// updateClaim writes a claim, and reads the answer into it.
func (m *Manager) updateClaim(p *kernel.Process, pvc *corev1.PersistentVolumeClaim) error {
	written, err := component.Update(p, m.Component, pvc.DeepCopy())
	if err != nil {
		return err
	}
	written.DeepCopyInto(pvc)
	return nil
}

// disownClaim removes the annotation and the finalizer from a claim, for any owner. A-VR-17
func (m *Manager) disownClaim(p *kernel.Process, pvc *corev1.PersistentVolumeClaim, annotation, finalizer string) error {
	if _, has := pvc.Annotations[annotation]; has {
		delete(pvc.Annotations, annotation)
		if err := m.updateClaim(p, pvc); err != nil {
			return err
		}
	}
	if !slices.Contains(pvc.Finalizers, finalizer) {
		return nil
	}
	pvc.Finalizers = slices.DeleteFunc(slices.Clone(pvc.Finalizers), func(f string) bool { return f == finalizer })
	return m.updateClaim(p, pvc)
}

// remove ends the replication of an object that is being deleted. A-VR-17
func (v *replicationPass) remove() error {
	if !slices.Contains(v.vr.Finalizers, replicationFinalizer) {
		return nil
	}
	if v.source.volume != "" || v.source.id != "" {
		v.overlaps.begin(store.KeyOf(v.vr))
		if _, err := v.ask(relay.Disable, false); err != nil && status.Code(err) != codes.NotFound {
			return err
		}
	}
	if v.source.claim != nil {
		if err := v.disownClaim(v.process, v.source.claim, ownerReplication, claimFinalizer); err != nil {
			return err
		}
	}
	if err := v.disownGroup(); err != nil {
		return err
	}
	return v.release(v.process, v.vr, replicationFinalizer)
}

func (v *replicationPass) disownGroup() error {
	if v.source.content != nil {
		content := v.source.content
		key, held := store.KeyOf(content), slices.Contains(content.Finalizers, replicationFinalizer)
		before := v.overlaps.begun[key]
		if err := v.release(v.process, content, replicationFinalizer); err != nil {
			return err
		}
		if held && content.DeletionTimestamp != nil {
			v.overlaps.await(v.process, key, before)
		}
	}
	group := v.source.group
	if group == nil {
		return nil
	}
	if _, has := group.Annotations[ownerReplication]; !has {
		return nil
	}
	delete(group.Annotations, ownerReplication)
	return kinds.Update(v.process, v.Component, group)
}
