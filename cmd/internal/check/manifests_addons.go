package check

import (
	"cmp"
	"fmt"
	"strings"
)

// job is a ReclaimSpaceJob or an EncryptionKeyRotationJob.
type job struct {
	kind, name string
	claim      string // default: data
	limit      int    // retries; default patient
}

// patient is the number of attempts of a job. With the default of 6, all attempts fail before a
// killed program is back.
const patient = 30

func (j job) manifest(*Facts) string {
	return fmt.Sprintf(`apiVersion: csiaddons.openshift.io/v1alpha1
kind: %s
metadata: {name: %s}
spec: {backOffLimit: %d, retryDeadlineSeconds: 1800, target: {persistentVolumeClaim: %s}}
`, j.kind, j.name, cmp.Or(j.limit, patient), cmp.Or(j.claim, data.name))
}

// work runs a job to its end.
func (s *script) work(j job) {
	s.apply(j)
	s.step("wait: {%s: %s, that: \"has(object.status.result) && object.status.result == 'Succeeded'\", for: 3h}", strings.ToLower(j.kind), j.name)
}

// addonsSecret is the Secret that classes name.
type addonsSecret struct{}

func (addonsSecret) manifest(*Facts) string {
	return "apiVersion: v1\nkind: Secret\nmetadata: {name: day-2}\nstringData: {password: csisim-check-secret}\n"
}

// fenceClass is the class of fences.
type fenceClass struct{}

func (fenceClass) manifest(f *Facts) string {
	return class("csiaddons.openshift.io", "NetworkFenceClass", f, "networkfence-secret")
}

// replicationClasses makes the classes of replication.
func (s *script) replicationClasses() { s.apply(addonsSecret{}, replicationClass{}, groupClass{}) }

type replicationClass struct{}

func (replicationClass) manifest(f *Facts) string {
	return class("replication.storage.openshift.io", "VolumeReplicationClass", f, "replication-secret")
}

type groupClass struct{}

func (groupClass) manifest(f *Facts) string {
	return class("replication.storage.openshift.io", "VolumeGroupReplicationClass", f, "group-replication-secret")
}

func class(group, kind string, f *Facts, secret string) string {
	return fmt.Sprintf(`apiVersion: %[1]s/v1alpha1
kind: %[2]s
metadata: {name: day-2}
spec:
  provisioner: %[3]s
  parameters: {%[1]s/%[4]s-name: day-2, %[1]s/%[4]s-namespace: default}
`, group, kind, f.Name, secret)
}

// replicated is the VolumeReplication of a claim.
type replicated struct{ claim, state string }

func (r replicated) manifest(*Facts) string {
	return fmt.Sprintf(`apiVersion: replication.storage.openshift.io/v1alpha1
kind: VolumeReplication
metadata: {name: vr}
spec: {volumeReplicationClass: day-2, replicationState: %s, autoResync: true, dataSource: {kind: PersistentVolumeClaim, name: %s}}
`, r.state, r.claim)
}

// volumeGroup replicates the volumes of the grouped claims together.
type volumeGroup struct{}

func (volumeGroup) manifest(*Facts) string {
	return fmt.Sprintf(`apiVersion: replication.storage.openshift.io/v1alpha1
kind: VolumeGroupReplication
metadata: {name: group}
spec:
  replicationState: primary
  source: {selector: {matchLabels: %s}}
  volumeGroupReplicationClassName: day-2
  volumeReplicationClassName: day-2
`, groupLabels)
}

// sameVolume is a claim with a separate volume object for a handle.
type sameVolume struct{ name, handle string }

func (v sameVolume) manifest(f *Facts) string {
	return fmt.Sprintf(`apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s}
spec:
  accessModes: [ReadWriteOnce]
  capacity: {storage: %[2]s}
  persistentVolumeReclaimPolicy: Retain
  storageClassName: ""
  csi: {driver: %[3]s, volumeHandle: %[4]s}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: %[1]s, labels: %[5]s}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: %[2]s}}
  storageClassName: ""
  volumeName: %[1]s
`, v.name, f.subject.size(), f.Name, v.handle, groupLabels)
}
