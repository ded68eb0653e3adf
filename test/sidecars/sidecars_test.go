// Package sidecars runs Kubernetes' own sidecars, unmodified, against live clusters.
package sidecars

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const driver = "real.csi.example.com"

// programs is the directory with csisim, hostdir and the sidecars.
var programs string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	var err error
	if programs, err = os.MkdirTemp("", "programs"); err == nil {
		defer os.RemoveAll(programs)
		err = build(".", "tool")
	}
	if err == nil {
		err = build("../..", "./cmd/csisim", "./drivers/hostdir")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

func build(dir string, packages ...string) error {
	command := exec.Command("go", append([]string{"build", "-ldflags", "-s -w", "-o", programs}, packages...)...)
	command.Dir = dir
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", command, err, out)
	}
	return nil
}

const file = `apiVersion: csisim.dev/v1alpha1
kind: Scenario
cluster: {nodes: 2}
drivers:
- name: real.csi.example.com
  external: [csi-attacher, csi-resizer, csi-snapshotter, snapshot-controller]
  %s
objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: real.csi.example.com, allowVolumeExpansion: true}
- {apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotClass, metadata: {name: fast}, driver: real.csi.example.com, deletionPolicy: Delete}
`

// A volume goes through its life with the real csi-attacher, csi-resizer, csi-snapshotter and
// snapshot-controller instead of the built-in ones.
func TestSidecarsTakeAVolumeThroughItsLife(t *testing.T) {
	for name, way := range map[string]string{
		"mock": "mock: {controllerExpand: true, nodeExpand: true, snapshot: true, listSnapshots: true, listVolumes: true, listVolumesPublishedNodes: true}",
		"hostdir": "program: {command: [" + "%s/hostdir" + `, "--endpoint={{.Endpoint}}", "--driver-name={{.Driver}}", "--mode={{.Mode}}", "--node-id={{.NodeID}}", ` +
			`"--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			if name == "hostdir" {
				if os.Geteuid() != 0 {
					t.Skip("loop devices need root")
				}
				way = fmt.Sprintf(way, programs)
			}
			c := up(t, fmt.Sprintf(file, way))
			socket := "--csi-address=" + c.controllerSocket()
			for _, sidecar := range []string{"csi-attacher", "csi-resizer", "csi-snapshotter"} {
				c.start(sidecar, socket)
			}
			c.start("snapshot-controller")
			c.lifeOfAVolume()
			c.leadersAreElected()
		})
	}
}

func (c *cluster) lifeOfAVolume() {
	c.claim("data", "32Mi", nil)
	c.pod("web", "data")
	c.awaitRunning("web")
	attachments, err := c.StorageV1().VolumeAttachments().List(c.Context(), metav1.ListOptions{})
	require.NoError(c, err)
	require.Len(c, attachments.Items, 1)
	assert.True(c, attachments.Items[0].Status.Attached)
	assert.Contains(c, attachments.Items[0].Finalizers, "external-attacher/real-csi-example-com")

	c.grow("data", "64Mi")
	c.awaitEvent("data", "Resizing", "external-resizer "+driver)

	c.snapshot("first", "data")
	c.claim("copy", "64Mi", &corev1.TypedLocalObjectReference{APIGroup: &snapshotv1.SchemeGroupVersion.Group, Kind: "VolumeSnapshot", Name: "first"})
	c.pod("restored", "copy")
	c.awaitRunning("restored")

	c.deleteAll()
}

// leadersAreElected checks that each sidecar holds a lease.
func (c *cluster) leadersAreElected() {
	leases, err := c.CoordinationV1().Leases("kube-system").List(c.Context(), metav1.ListOptions{})
	require.NoError(c, err)
	var held []string
	for _, lease := range leases.Items {
		if lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != "" {
			held = append(held, lease.Name)
		}
	}
	assert.ElementsMatch(c, []string{
		"external-attacher-leader-real-csi-example-com", "external-resizer-real-csi-example-com",
		"external-snapshotter-leader-real-csi-example-com", "snapshot-controller-leader",
	}, held)
}

func (c *cluster) claim(name, size string, source *corev1.TypedLocalObjectReference) {
	class := "fast"
	_, err := c.CoreV1().PersistentVolumeClaims("default").Create(c.Context(), &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class, DataSource: source,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
		},
	}, metav1.CreateOptions{})
	require.NoError(c, err)
}

func (c *cluster) pod(name, claim string) {
	_, err := c.CoreV1().Pods("default").Create(c.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "i", VolumeMounts: []corev1.VolumeMount{{Name: "v", MountPath: "/data"}}}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: claim},
			}}},
		},
	}, metav1.CreateOptions{})
	require.NoError(c, err)
}

func (c *cluster) awaitRunning(name string) {
	c.Helper()
	c.await("pod "+name+" to run", func(ctx context.Context) (bool, error) {
		pod, err := c.CoreV1().Pods("default").Get(ctx, name, metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning, err
	})
}

// grow requests a larger size and waits until the claim has this size. The file system has grown by
// then, too.
func (c *cluster) grow(name, size string) {
	c.Helper()
	claims := c.CoreV1().PersistentVolumeClaims("default")
	claim, err := claims.Get(c.Context(), name, metav1.GetOptions{})
	require.NoError(c, err)
	claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(size)
	_, err = claims.Update(c.Context(), claim, metav1.UpdateOptions{})
	require.NoError(c, err)
	c.await("claim "+name+" to grow", func(ctx context.Context) (bool, error) {
		claim, err := claims.Get(ctx, name, metav1.GetOptions{})
		return err == nil && claim.Status.Capacity.Storage().Cmp(resource.MustParse(size)) == 0, err
	})
}

// awaitEvent waits for an event that a sidecar emits about a claim.
func (c *cluster) awaitEvent(claim, reason, component string) {
	c.Helper()
	c.await("event "+reason+" of claim "+claim, func(ctx context.Context) (bool, error) {
		events, err := c.CoreV1().Events("default").List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.name=" + claim + ",reason=" + reason})
		return err == nil && len(events.Items) == 1 && events.Items[0].Source.Component == component, err
	})
}

func (c *cluster) snapshot(name, claim string) {
	c.Helper()
	class := "fast"
	all := c.snapshots.SnapshotV1().VolumeSnapshots("default")
	_, err := all.Create(c.Context(), &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       snapshotv1.VolumeSnapshotSpec{VolumeSnapshotClassName: &class, Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: &claim}},
	}, metav1.CreateOptions{})
	require.NoError(c, err)
	c.await("snapshot "+name+" to be ready", func(ctx context.Context) (bool, error) {
		snapshot, err := all.Get(ctx, name, metav1.GetOptions{})
		return err == nil && snapshot.Status != nil && snapshot.Status.ReadyToUse != nil && *snapshot.Status.ReadyToUse, err
	})
}

// deleteAll deletes all objects and waits until nothing is left.
func (c *cluster) deleteAll() {
	c.Helper()
	everything := metav1.ListOptions{}
	require.NoError(c, c.CoreV1().Pods("default").DeleteCollection(c.Context(), metav1.DeleteOptions{}, everything))
	require.NoError(c, c.CoreV1().PersistentVolumeClaims("default").DeleteCollection(c.Context(), metav1.DeleteOptions{}, everything))
	require.NoError(c, c.snapshots.SnapshotV1().VolumeSnapshots("default").DeleteCollection(c.Context(), metav1.DeleteOptions{}, everything))
	c.await("all volumes, attachments and snapshots to be gone", func(ctx context.Context) (bool, error) {
		volumes, err := c.CoreV1().PersistentVolumes().List(ctx, everything)
		if err != nil || len(volumes.Items) > 0 {
			return false, err
		}
		attachments, err := c.StorageV1().VolumeAttachments().List(ctx, everything)
		if err != nil || len(attachments.Items) > 0 {
			return false, err
		}
		contents, err := c.snapshots.SnapshotV1().VolumeSnapshotContents().List(ctx, everything)
		return err == nil && len(contents.Items) == 0, err
	})
}
