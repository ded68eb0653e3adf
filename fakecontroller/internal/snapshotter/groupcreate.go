package snapshotter

import (
	"context"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// createGroup has the driver cut a group. C-GSNAP-5
func (r *run) createGroup(p *kernel.Process, c groupContent) (groupContent, error) {
	class, secrets, err := r.groupInput(p, c)
	if err != nil {
		return c, fmt.Errorf("failed to get input parameters to create group snapshot for group snapshot content %s: %q", c.Name, err)
	}
	if c, err = r.annotateGroupBeingCreated(p, c, true); err != nil {
		return c, fmt.Errorf("failed to add VolumeGroupSnapshotBeingCreated annotation on the group snapshot content %s: %q", c.Name, err)
	}
	made, err := r.cutGroup(p, c, class, secrets)
	if err != nil {
		cause := fmt.Errorf("failed to take group snapshot of the volumes %s: %w", c.Spec.Source.VolumeHandles, quoted{err})
		if isFinal(err) {
			if c, err = r.annotateGroupBeingCreated(p, c, false); err != nil {
				return c, fmt.Errorf("failed to remove VolumeGroupSnapshotBeingCreated annotation from the group snapshot content %s: %w", c.Name, err)
			}
		}
		return c, cause
	}
	if c, err = r.saveGroupStatus(p, c, made); err != nil {
		return c, fmt.Errorf("error updating status for volume group snapshot content %s: %w", c.Name, err)
	}
	if c, err = r.annotateGroupBeingCreated(p, c, false); err != nil {
		return c, fmt.Errorf("failed to remove VolumeGroupSnapshotBeingCreated annotation on the groupSnapshotContent %s: %w", c.Name, err)
	}
	return c, nil
}

func (r *run) groupInput(p *kernel.Process, c groupContent) (*groupv1.VolumeGroupSnapshotClass, map[string]string, error) {
	if c.Spec.VolumeGroupSnapshotClassName == nil {
		return nil, nil, fmt.Errorf("failed to take group snapshot %s without a group snapshot class", c.Name)
	}
	class, ok := r.groupClass(*c.Spec.VolumeGroupSnapshotClassName)
	if !ok {
		return nil, nil, noGroupClass(*c.Spec.VolumeGroupSnapshotClassName)
	}
	secrets, err := r.groupSecrets(p, c)
	return class, secrets, err
}

func noGroupClass(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: groupv1.GroupName, Resource: "volumegroupsnapshotclass"}, name)
}

// cutGroup asks for the driver's name before each call, as cut does.
func (r *run) cutGroup(p *kernel.Process, c groupContent, class *groupv1.VolumeGroupSnapshotClass, secrets map[string]string) (*csi.VolumeGroupSnapshot, error) {
	parameters, err := snapshot.DriverParameters(class.Parameters)
	if err != nil {
		return nil, fmt.Errorf("failed to remove CSI Parameters of prefixed keys: %w", err)
	}
	if r.opts.CreateMetadata {
		parameters[snapshot.ParameterPrefix+"volumegroupsnapshot/name"] = c.Spec.VolumeGroupSnapshotRef.Name
		parameters[snapshot.ParameterPrefix+"volumegroupsnapshot/namespace"] = c.Spec.VolumeGroupSnapshotRef.Namespace
		parameters[snapshot.ParameterPrefix+"volumegroupsnapshotcontent/name"] = c.Name
	}
	if c.Spec.VolumeGroupSnapshotRef.UID == "" {
		return nil, fmt.Errorf("cannot create group snapshot. Group snapshot content %s not bound to a group snapshot", c.Name)
	}
	conn := r.conn(p)
	if _, err := csi.NewIdentityClient(conn).GetPluginInfo(context.Background(), &csi.GetPluginInfoRequest{}); err != nil {
		return nil, err
	}
	answer, err := csi.NewGroupControllerClient(conn).CreateVolumeGroupSnapshot(context.Background(), &csi.CreateVolumeGroupSnapshotRequest{
		Name: "groupsnapshot-" + string(c.Spec.VolumeGroupSnapshotRef.UID), SourceVolumeIds: c.Spec.Source.VolumeHandles,
		Parameters: parameters, Secrets: secrets,
	})
	return answer.GetGroupSnapshot(), err
}

// groupSecrets are those that the content's annotations name.
func (r *run) groupSecrets(p *kernel.Process, c groupContent) (map[string]string, error) {
	name, named := c.Annotations[snapshot.GroupDeletionSecretName]
	namespace, placed := c.Annotations[snapshot.GroupDeletionSecretNamespace]
	switch {
	case !named || !placed:
		return nil, nil
	case name == "" || namespace == "":
		return nil, fmt.Errorf("cannot retrieve secrets for group snapshot content %q, err: secret name or namespace not specified", c.Name)
	}
	values, err := sidecar.ReadSecret(p, r.Component, &corev1.SecretReference{Name: name, Namespace: namespace})
	if err != nil {
		return nil, fmt.Errorf("cannot get credentials for group snapshot content %q", c.Name)
	}
	return values, nil
}

// saveGroupStatus records the driver's answer; earlier values stay, except for readiness.
func (r *run) saveGroupStatus(p *kernel.Process, c groupContent, made *csi.VolumeGroupSnapshot) (groupContent, error) {
	created := metav1.NewTime(p.Now())
	if made.GetCreationTime() != nil {
		created = metav1.NewTime(made.GetCreationTime().AsTime())
	}
	ready := made.GetReadyToUse()
	written, err := component.PatchStatus(p, r.Component, store.KeyOf(c), func(c groupContent) {
		if c.Status == nil {
			c.Status = &groupv1.VolumeGroupSnapshotContentStatus{}
		}
		setOnce(&c.Status.VolumeGroupSnapshotHandle, made.GetGroupSnapshotId())
		setOnce(&c.Status.CreationTime, created)
		c.Status.ReadyToUse = &ready
		if ready {
			c.Status.Error = nil
		}
		if len(c.Status.VolumeSnapshotInfoList) == 0 {
			c.Status.VolumeSnapshotInfoList = infoOf(made.GetSnapshots())
		}
	})
	if err != nil {
		return c, failedToUpdate(c.Name, err)
	}
	return written, nil
}

// infoOf returns the record of the members of a group.
func infoOf(members []*csi.Snapshot) []groupv1.VolumeSnapshotInfo {
	var list []groupv1.VolumeSnapshotInfo
	for _, s := range members {
		info := groupv1.VolumeSnapshotInfo{VolumeHandle: s.GetSourceVolumeId(), SnapshotHandle: s.GetSnapshotId(), ReadyToUse: new(s.GetReadyToUse())}
		if s.GetCreationTime() != nil {
			info.CreationTime = new(s.GetCreationTime().AsTime().UnixNano())
		}
		if s.GetSizeBytes() > 0 {
			info.RestoreSize = new(s.GetSizeBytes())
		}
		list = append(list, info)
	}
	return list
}

// lookAtGroup asks the driver about a group that it had before. C-GSNAP-5
func (r *run) lookAtGroup(p *kernel.Process, c groupContent) (groupContent, error) {
	secrets, err := r.groupGetSecrets(p, c)
	if err != nil {
		return c, err
	}
	handles := c.Spec.Source.GroupSnapshotHandles
	if len(handles.VolumeSnapshotHandles) == 0 {
		return c, fmt.Errorf("cannot list group snapshot %s. No snapshots found in the group snapshot content", c.Name)
	}
	answer, err := csi.NewGroupControllerClient(r.conn(p)).GetVolumeGroupSnapshot(context.Background(), &csi.GetVolumeGroupSnapshotRequest{
		GroupSnapshotId: handles.VolumeGroupSnapshotHandle, SnapshotIds: handles.VolumeSnapshotHandles, Secrets: secrets,
	})
	if err != nil {
		return c, fmt.Errorf("failed to list group snapshot for group snapshot content %s: %w", c.Name, quoted{err})
	}
	// Of the members nothing is written down: their contents are made by hand, too.
	found := &csi.VolumeGroupSnapshot{
		GroupSnapshotId: handles.VolumeGroupSnapshotHandle, ReadyToUse: answer.GetGroupSnapshot().GetReadyToUse(),
		CreationTime: answer.GetGroupSnapshot().GetCreationTime(),
	}
	return r.saveGroupStatus(p, c, found)
}

func (r *run) groupGetSecrets(p *kernel.Process, c groupContent) (map[string]string, error) {
	if c.Spec.VolumeGroupSnapshotClassName == nil {
		return nil, nil
	}
	name := *c.Spec.VolumeGroupSnapshotClassName
	class, ok := r.groupClass(name)
	if !ok {
		return nil, fmt.Errorf("failed to get group snapshot class %s for group snapshot content %s: %w", name, c.Name, noGroupClass(name))
	}
	ref, err := snapshot.GroupSnapshotterGet.Of(class.Parameters, "volumegroupsnapshot", c.Name, nil)
	if err != nil {
		return nil, fmt.Errorf("failed to get secret reference for group snapshot content %s: %w", c.Name, err)
	}
	secrets, err := sidecar.ReadSecret(p, r.Component, ref)
	if err != nil {
		return nil, fmt.Errorf("failed to get credentials for group snapshot content %s: %w", c.Name, err)
	}
	return secrets, nil
}
