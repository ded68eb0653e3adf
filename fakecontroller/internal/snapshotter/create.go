package snapshotter

import (
	"context"
	"errors"
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
)

// create has the driver cut a snapshot. C-SNAP-34
func (r *run) create(p *kernel.Process, c content) (content, error) {
	request, err := r.createRequest(p, c)
	if err != nil {
		return c, err
	}
	if c, err = r.annotateBeingCreated(p, c, true); err != nil {
		return c, fmt.Errorf("failed to add VolumeSnapshotBeingCreated annotation on the content %s: %q", c.Name, err)
	}
	made, err := r.cut(p, request)
	if err != nil {
		cause := fmt.Errorf("failed to take snapshot of the volume %s: %w", request.SourceVolumeId, quoted{err})
		if isFinal(err) { // C-SNAP-35
			if c, err = r.annotateBeingCreated(p, c, false); err != nil {
				return c, fmt.Errorf("failed to remove VolumeSnapshotBeingCreated annotation from the content %s: %w", c.Name, err)
			}
		}
		return c, cause
	}
	if c, err = r.saveStatus(p, c, made); err != nil {
		return c, fmt.Errorf("error updating status for volume snapshot content %s: %w", c.Name, err)
	}
	if c, err = r.annotateBeingCreated(p, c, false); err != nil {
		return c, fmt.Errorf("failed to remove VolumeSnapshotBeingCreated annotation on the content %s: %w", c.Name, err)
	}
	return c, nil
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
	class, ok := r.class(*c.Spec.VolumeSnapshotClassName)
	if !ok {
		return nil, input(noClass(*c.Spec.VolumeSnapshotClassName))
	}
	secrets, err := r.secrets(p, c)
	if err != nil {
		return nil, input(err)
	}
	parameters, err := snapshot.DriverParameters(class.Parameters)
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

func noClass(name string) error {
	return apierrors.NewNotFound(schema.GroupResource{Group: snapshotv1.GroupName, Resource: "volumesnapshotclass"}, name)
}

// cut asks for the driver's name before each call. C-SNAP-34
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

// secrets are those that the content's annotations name.
func (r *run) secrets(p *kernel.Process, c content) (map[string]string, error) {
	has := func(name string) bool { return metav1.HasAnnotation(c.ObjectMeta, name) }
	if !has(snapshot.DeletionSecretName) || !has(snapshot.DeletionSecretNamespace) {
		return nil, nil
	}
	ref := &corev1.SecretReference{Name: c.Annotations[snapshot.DeletionSecretName], Namespace: c.Annotations[snapshot.DeletionSecretNamespace]}
	if ref.Name == "" || ref.Namespace == "" {
		return nil, fmt.Errorf("cannot retrieve secrets for snapshot content %q, err: secret name or namespace not specified", c.Name)
	}
	values, err := sidecar.ReadSecret(p, r.Component, ref)
	if err != nil {
		return nil, fmt.Errorf("cannot get credentials for snapshot content %q", c.Name)
	}
	return values, nil
}

// look asks the driver about a snapshot that it had before. C-SNAP-37
func (r *run) look(p *kernel.Process, c content) (content, error) {
	handle, secretsOf := c.Spec.Source.SnapshotHandle, r.listSecrets
	if isCutMember(c) { // it has no class: C-SNAP-37
		handle, secretsOf = c.Status.SnapshotHandle, r.secrets
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

func (r *run) listSecrets(p *kernel.Process, c content) (map[string]string, error) {
	if c.Spec.VolumeSnapshotClassName == nil {
		return nil, nil
	}
	name := *c.Spec.VolumeSnapshotClassName
	class, ok := r.class(name)
	if !ok {
		return nil, fmt.Errorf("failed to get snapshot class %s for snapshot content %s: %w", name, c.Name, noClass(name))
	}
	ref, err := snapshot.SnapshotterList.Of(class.Parameters, "volumesnapshot", c.Name, nil)
	if err != nil {
		return nil, fmt.Errorf("failed to get secret reference for snapshot content %s: %w", c.Name, err)
	}
	secrets, err := sidecar.ReadSecret(p, r.Component, ref)
	if err != nil {
		return nil, fmt.Errorf("failed to get credentials for snapshot content %s: %w", c.Name, err)
	}
	return secrets, nil
}

// list finds one snapshot. A driver that does not list is believed to have it.
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
