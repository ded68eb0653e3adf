package fakekubelet_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/store"
)

func groupPolicy(policy storagev1.FSGroupPolicy) func(*storagev1.CSIDriverSpec) {
	return func(s *storagev1.CSIDriverSpec) { s.FSGroupPolicy = &policy }
}

func ext4(pv *corev1.PersistentVolume) { pv.Spec.CSI.FSType = "ext4" }

// group returns the group and the permissions of a path.
func (n *node) group(path string) string {
	n.t.Helper()
	info, err := n.machine.Lstat(path)
	require.NoError(n.t, err)
	return fmt.Sprintf("%d %v", info.Sys().(*syscall.Stat_t).Gid, info.Mode())
}

// K-FSG-1, facts 15 and 74
//
// conformance: csimock-fsgroup-default, unit-fsgroup-policy-lookup, unit-fsgroup-mount-group,
// unit-fsgroup-mount-group-no-group, unit-fsgroup-mount-group-no-capability,
// unit-publish-request-fsgroup, unit-stage-request-fsgroup, unit-stage-fsgroup-passed,
// unit-stage-fsgroup-no-capability
func TestTheDriverOrTheKubeletAppliesTheFSGroup(t *testing.T) {
	const untouched, changed = "0 drwxr-xr-x", "4242 dgrwxrwxr-x"
	for _, c := range []struct {
		name    string
		setting setting
		fsType  string
		noGroup bool
		passed  string // volume_mount_group of both calls
		dir     string
	}{
		{"ReadWriteOnceWithFSType, no fsType", setting{csiDriver: groupPolicy("ReadWriteOnceWithFSType")}, "", false, "", untouched},
		{"ReadWriteOnceWithFSType", setting{csiDriver: groupPolicy("ReadWriteOnceWithFSType")}, "ext4", false, "", changed},
		{"File", setting{csiDriver: groupPolicy("File")}, "", false, "", changed},
		{"None", setting{csiDriver: groupPolicy("None")}, "ext4", false, "", untouched},
		{"no CSIDriver", setting{noCSIDriver: true}, "ext4", false, "", changed},
		{"no CSIDriver, no fsType", setting{noCSIDriver: true}, "", false, "", untouched},
		{"the pod has no group", setting{csiDriver: groupPolicy("File")}, "ext4", true, "", untouched},
		{"the driver does it", setting{driver: mock.Options{VolumeMountGroup: true}, csiDriver: groupPolicy("File")}, "ext4", false, "4242", untouched},
		{"the driver would, but the pod has no group", setting{driver: mock.Options{VolumeMountGroup: true}}, "ext4", true, "", untouched},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, c.setting)
			n.volume("data", func(pv *corev1.PersistentVolume) { pv.Spec.CSI.FSType = c.fsType })
			n.attached("data")
			uses := []func(*corev1.PodSpec){using("data")}
			if !c.noGroup {
				uses = append(uses, fsGroup(4242))
			}
			n.pod("web", uses...)
			n.until(func() bool { return n.phase("web") == corev1.PodRunning })
			assert.Equal(t, c.dir, n.group(n.targetOf("web")))
			assert.Equal(t, c.passed, request[*csispec.NodeStageVolumeRequest](n).VolumeCapability.GetMount().GetVolumeMountGroup())
			assert.Equal(t, c.passed, request[*csispec.NodePublishVolumeRequest](n).VolumeCapability.GetMount().GetVolumeMountGroup())
		})
	}
}

// K-RACE-37: a changed policy applies to the next pod.
//
// conformance: csimock-fsgroup-update-none-to-file, csimock-fsgroup-update-none-to-default,
// csimock-fsgroup-update-file-to-default, csimock-fsgroup-update-default-to-file
func TestThePolicyMayChange(t *testing.T) {
	for _, c := range [][2]storagev1.FSGroupPolicy{
		{"None", "File"}, {"None", "ReadWriteOnceWithFSType"}, {"File", "ReadWriteOnceWithFSType"}, {"ReadWriteOnceWithFSType", "File"},
	} {
		t.Run(fmt.Sprintf("%s to %s", c[0], c[1]), func(t *testing.T) {
			n := start(t, setting{csiDriver: groupPolicy(c[0])})
			n.volume("data", ext4)
			n.volume("more", ext4)
			n.pod("web", using("data"), fsGroup(1000))
			n.run("web")
			n.deletePod("web")
			n.settle()

			_, err := store.Modify(n.Store, store.Key{Name: driverName}, func(d *storagev1.CSIDriver) { d.Spec.FSGroupPolicy = &c[1] })
			require.NoError(t, err)
			n.pod("log", using("more"), fsGroup(2000))
			n.run("log")
			assert.Equal(t, "2000 dgrwxrwxr-x", n.group("/mock/h-more"))
		})
	}
}

func TestTheGroupIsAppliedAtEachPublish(t *testing.T) { // K-FSG-4
	n := start(t, setting{csiDriver: all(groupPolicy("File"), republish)})
	n.volume("data")
	n.pod("web", using("data"), fsGroup(4242))
	n.run("web")
	require.NoError(t, n.machine.WriteFile("/mock/h-data/file", nil, 0o600))
	require.NoError(t, n.machine.Lchown("/mock/h-data/file", -1, 7))
	n.pass(2 * time.Minute)
	assert.Equal(t, "4242 -rw-rw----", n.group("/mock/h-data/file"))
}

// K-PUB-9, K-ERR-4: the volume is published, but the pod cannot use it, so it has to be unpublished
// again.
func TestAGroupThatCannotBeApplied(t *testing.T) {
	n := start(t, setting{driver: mock.Options{Faulty: []string{"publish-mounts-nothing"}}, csiDriver: groupPolicy("File")})
	n.volume("data")
	n.pod("web", using("data"), fsGroup(4242))
	n.pass(300 * time.Millisecond)
	assert.Equal(t, []string{`Warning FailedMount: MountVolume.SetUp failed for volume "pv-data" : applyFSGroup failed for vol h-data: lstat ` + n.targetOf("web") + `: no such file or directory (1)`}, n.events())

	n.fail("NodePublishVolume", codes.Unavailable, 0)
	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Contains(t, n.calls(), "NodeUnpublishVolume OK")
}

// K-FSG-3: the walk over many files has no deadline. It emits an event after half a minute, then
// every minute.
func TestAChangeOfTheGroupThatTakesLong(t *testing.T) {
	n := start(t, setting{csiDriver: groupPolicy("File"), chownTime: time.Second})
	for i := range 160 {
		require.NoError(t, n.machine.MkdirAll(fmt.Sprintf("/mock/h-data/%d", i), 0o755))
	}
	n.volume("data")
	uid := n.pod("web", using("data"), fsGroup(4242))
	n.run("web")
	n.settle()
	dir := string(uid) + "/volumes/kubernetes.io~csi/pv-data/mount"
	var got []string
	for _, e := range n.kubeEvents("VolumePermissionChangeInProgress") {
		got = append(got, e.Message)
	}
	assert.Equal(t, []string{
		"Setting volume ownership for " + dir + " is taking longer than expected, consider using OnRootMismatch - https://kubernetes.io/docs/tasks/configure-pod-container/security-context/#configure-volume-permission-and-ownership-change-policy-for-pods",
		"Setting volume ownership for " + dir + ", processed 90 files.",
		"Setting volume ownership for " + dir + ", processed 150 files.",
	}, got)
}
