package snapshotter

import (
	"context"
	"errors"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
)

// create makes the driver create a snapshot. C-SNAP-34
func (r *run) create(p *kernel.Process, c content) (content, error) {
	request, err := r.createRequest(p, c)
	if err != nil {
		return c, err
	}
	return cut(p, r.contents, c, cutting[content, snap]{
		cut: func() (snap, error) { return r.cut(p, request) }, save: r.saveStatus, taken: "snapshot of the volume " + request.SourceVolumeId,
	})
}

// quoted is an error with its text in quotes, as in the sidecar's messages.
type quoted struct{ error }

func (q quoted) Error() string { return fmt.Sprintf("%q", q.error.Error()) }
func (q quoted) Unwrap() error { return q.error }

func (r *run) createRequest(p *kernel.Process, c content) (*csi.CreateSnapshotRequest, error) {
	input := func(err error) error {
		return fmt.Errorf("failed to get input parameters to create snapshot for content %s: %q", c.Name, err)
	}
	if c.Spec.VolumeSnapshotClassName == nil {
		return nil, input(fmt.Errorf("failed to take snapshot %s without a snapshot class", c.Name))
	}
	class, err := r.contents.class(*c.Spec.VolumeSnapshotClassName)
	if err != nil {
		return nil, input(err)
	}
	secrets, err := r.contents.secrets(p, c)
	if err != nil {
		return nil, input(err)
	}
	parameters, err := snapshot.DriverParameters(class.parameters)
	if err != nil {
		return nil, fmt.Errorf("failed to remove CSI Parameters of prefixed keys: %w", err)
	}
	if r.opts.CreateMetadata { // C-SNAP-5
		parameters[snapshot.ParameterPrefix+"volumesnapshot/name"] = c.Spec.VolumeSnapshotRef.Name
		parameters[snapshot.ParameterPrefix+"volumesnapshot/namespace"] = c.Spec.VolumeSnapshotRef.Namespace
		parameters[snapshot.ParameterPrefix+"volumesnapshotcontent/name"] = c.Name
	}
	if c.Spec.VolumeSnapshotRef.UID == "" {
		return nil, fmt.Errorf("cannot create snapshot. Snapshot content %s not bound to a snapshot", c.Name)
	}
	return &csi.CreateSnapshotRequest{
		Name: "snapshot-" + string(c.Spec.VolumeSnapshotRef.UID), SourceVolumeId: *c.Spec.Source.VolumeHandle,
		Parameters: parameters, Secrets: secrets,
	}, nil
}

// cut requests the driver's name before each call. C-SNAP-34
func (r *run) cut(p *kernel.Process, request *csi.CreateSnapshotRequest) (snap, error) {
	conn := r.conn(p)
	if _, err := csi.NewIdentityClient(conn).GetPluginInfo(context.Background(), &csi.GetPluginInfoRequest{}); err != nil {
		return snap{}, err
	}
	answer, err := csi.NewControllerClient(conn).CreateSnapshot(context.Background(), request)
	if err != nil {
		return snap{}, err
	}
	return snapOf(answer.GetSnapshot()), nil
}

func snapOf(s *csi.Snapshot) snap {
	made := snap{handle: s.GetSnapshotId(), bytes: s.GetSizeBytes(), ready: s.GetReadyToUse()}
	if s.GetCreationTime() != nil {
		made.created = s.GetCreationTime().AsTime()
	}
	return made
}

// look requests the state of a pre-provisioned snapshot. C-SNAP-37
func (r *run) look(p *kernel.Process, c content) (content, error) {
	handle, secretsOf := c.Spec.Source.SnapshotHandle, r.contents.classSecrets
	if isCutMember(c) { // a member has no class: C-SNAP-37
		handle, secretsOf = c.Status.SnapshotHandle, r.contents.secrets
	}
	secrets, err := secretsOf(p, c)
	if err != nil {
		return c, err
	}
	found, err := r.list(p, *handle, secrets)
	if err != nil {
		return c, fmt.Errorf("failed to list snapshot for content %s: %w", c.Name, quoted{err})
	}
	return r.saveStatus(p, c, found)
}

// list finds one snapshot. If the driver has no lists, the snapshot counts as existing.
func (r *run) list(p *kernel.Process, handle string, secrets map[string]string) (snap, error) {
	client := csi.NewControllerClient(r.conn(p))
	can, err := client.ControllerGetCapabilities(context.Background(), &csi.ControllerGetCapabilitiesRequest{})
	if err != nil {
		return snap{}, err
	}
	lists := false
	for _, capability := range can.GetCapabilities() {
		lists = lists || capability.GetRpc().GetType() == csi.ControllerServiceCapability_RPC_LIST_SNAPSHOTS
	}
	if !lists {
		return snap{handle: handle, ready: true}, nil
	}
	answer, err := client.ListSnapshots(context.Background(), &csi.ListSnapshotsRequest{SnapshotId: handle, Secrets: secrets})
	if err != nil {
		return snap{}, err
	}
	if len(answer.GetEntries()) == 0 {
		return snap{}, errors.New("can not find snapshot for snapshotID " + handle)
	}
	found := snapOf(answer.GetEntries()[0].GetSnapshot())
	found.handle, found.group = handle, answer.GetEntries()[0].GetSnapshot().GetGroupSnapshotId()
	return found, nil
}
