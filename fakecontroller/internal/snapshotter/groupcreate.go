package snapshotter

import (
	"context"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// createGroup makes the driver create a group snapshot. C-GSNAP-5
func (r *run) createGroup(p *kernel.Process, c groupContent) (groupContent, error) {
	class, secrets, err := r.groupInput(p, c)
	if err != nil {
		return c, fmt.Errorf("failed to get input parameters to create group snapshot for group snapshot content %s: %q", c.Name, err)
	}
	return cut(p, r.groupContents, c, cutting[groupContent, *csi.VolumeGroupSnapshot]{
		cut:  func() (*csi.VolumeGroupSnapshot, error) { return r.cutGroup(p, c, class, secrets) },
		save: r.saveGroupStatus, taken: fmt.Sprintf("group snapshot of the volumes %s", c.Spec.Source.VolumeHandles),
	})
}

func (r *run) groupInput(p *kernel.Process, c groupContent) (class, map[string]string, error) {
	if c.Spec.VolumeGroupSnapshotClassName == nil {
		return class{}, nil, fmt.Errorf("failed to take group snapshot %s without a group snapshot class", c.Name)
	}
	found, err := r.groupContents.class(*c.Spec.VolumeGroupSnapshotClassName)
	if err != nil {
		return found, nil, err
	}
	secrets, err := r.groupContents.secrets(p, c)
	return found, secrets, err
}

// cutGroup requests the driver's name before each call, like cut.
func (r *run) cutGroup(p *kernel.Process, c groupContent, class class, secrets map[string]string) (*csi.VolumeGroupSnapshot, error) {
	parameters, err := snapshot.DriverParameters(class.parameters)
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

// saveGroupStatus records the driver's answer. Only the readiness replaces an earlier value.
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

// lookAtGroup requests the state of a pre-provisioned group from the driver. C-GSNAP-5
func (r *run) lookAtGroup(p *kernel.Process, c groupContent) (groupContent, error) {
	secrets, err := r.groupContents.classSecrets(p, c)
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
	// It records nothing about the members, because their contents are also pre-provisioned.
	found := &csi.VolumeGroupSnapshot{
		GroupSnapshotId: handles.VolumeGroupSnapshotHandle, ReadyToUse: answer.GetGroupSnapshot().GetReadyToUse(),
		CreationTime: answer.GetGroupSnapshot().GetCreationTime(),
	}
	return r.saveGroupStatus(p, c, found)
}
