package explain

import (
	"slices"

	"github.com/csisim/csisim/internal/world/version"
)

// The checks of findings with statements.
const (
	fails        = "operation-fails"
	hangs        = "call-hangs"
	refuses      = "multi-attach"
	forces       = "force-detach"
	unregistered = "driver-not-registered"
	waits        = "pod-waits"
	keeps        = "finalizer-stays"
	addons       = "addons-job-failed"
	unseen       = "attachment-unseen"
	remains      = "volume-directory-stays"
)

// The operations of components.
var (
	ofKubelet     = []string{"stage", "publish", "unpublish", "unstage", "node resize"}
	ofAttacher    = []string{"attach", "detach"}
	ofProvisioner = []string{"provision", "delete"}
	expanding     = []string{"resize", "node resize"}
	mounting      = []string{"stage", "publish"}
	ofSnapshotter = []string{"snapshot", "snapshot delete"}
	ofSidecars    = slices.Concat(ofAttacher, ofProvisioner, ofSnapshotter, []string{"resize"})
)

// isOpen are the codes after which a call may still take effect.
var isOpen = []string{"DeadlineExceeded", "Canceled", "Unavailable", "Aborted"}

// statements are the rules and hazards that findings cite.
var statements = slices.Concat(ofRetries, ofNodes, ofAttachments, ofProvisioning, ofExpansion, ofSnapshots, ofScheduling, ofObjects, ofAddons)

// again is the number of failures from which the rate of retries matters.
const again = 3

var ofRetries = []statement{
	{ids: "K-OP-3", says: "the kubelet retries after 0.5 s, then twice as long each time, up to 2 min 2 s",
		of: about{checks: []string{fails}, kinds: ofKubelet, failures: again}},
	{ids: "C-ATT-3", says: "csi-attacher retries after 1 s, then twice as long each time, up to 5 min",
		of: about{checks: []string{fails}, kinds: ofAttacher, failures: again}},
	{ids: "C-PROV-3", says: "csi-provisioner retries after 1 s, then twice as long each time, up to 5 min",
		of: about{checks: []string{fails}, kinds: ofProvisioner, failures: again}},
	{ids: "C-RES-1", says: "csi-resizer retries after 1 s, then twice as long each time, up to 5 min",
		of: about{checks: []string{fails}, kinds: []string{"resize"}, failures: again}},
	{ids: "C-SNAP-30", says: "csi-snapshotter retries after 1 s, then twice as long each time, up to 5 min",
		of: about{checks: []string{fails}, kinds: ofSnapshotter, failures: again}},
	{ids: "K-RPC-4", says: "the kubelet gives a call up after 2 minutes and repeats it, while the first one may still run in the driver",
		of: about{checks: []string{hangs}, kinds: ofKubelet}},
	{ids: "C-ATT-1", says: "csi-attacher gives a call up after 15 s, unless --timeout is set, and repeats it",
		of: about{checks: []string{hangs}, kinds: ofAttacher}},
	{ids: "C-PROV-1", says: "csi-provisioner gives a call up after 10 s, unless --timeout is set, and repeats it",
		of: about{checks: []string{hangs}, kinds: ofProvisioner}},
	{ids: "CSI spec", says: "ABORTED means that another call for the volume is under way",
		of: about{checks: []string{fails, hangs}, words: []string{"Aborted", "operation with the given Volume ID"}}},
	{ids: "C-LIB-1", says: "a sidecar exits when it loses the connection to its driver, and makes no call until it is started again",
		of: about{checks: []string{fails, hangs}, kinds: ofSidecars}, shown: lostDriver, isHazard: true},
}

var ofNodes = []statement{
	{ids: "K-RPC-10", says: "the kubelet calls only drivers that a registrar has registered since the kubelet started",
		of: about{checks: []string{unregistered}}},
	{ids: "K-REG-20", says: "a kubelet that starts again knows no driver until the registration sockets that it finds are registered again",
		of: about{checks: []string{unregistered}}, shown: kubeletStarted, isHazard: true},
	{ids: "K-REG-20", says: "if a driver vanishes while the kubelet is down, its entry in the CSINode stays",
		of: about{checks: []string{unregistered}}, shown: leftInCSINode, isHazard: true},
	{ids: "K-REG-10", says: "a second socket of a driver is refused while a first one of the same version is registered",
		of: about{checks: []string{unregistered}, words: []string{"already registered"}}},
	{ids: "K-REG-13", says: "a driver that returns no node id in NodeGetInfo is not registered",
		of: about{checks: []string{unregistered}, words: []string{"driverNodeID must not be empty"}}},
	{ids: "K-NODE-9", says: "topology labels of a node are never changed, so a driver with another topology is not registered until the label is removed by hand",
		of: about{checks: []string{unregistered}, words: []string{"topology value collision"}}},
	{ids: "K-RPC-3", says: "a call to a socket without a listener fails at once with Unavailable",
		of: about{checks: []string{fails}, kinds: ofKubelet, words: []string{"dial unix"}}},
	{ids: "K-RPC-7, K-STAGE-7", says: "after a code such as DeadlineExceeded the volume counts as perhaps staged: NodeUnstageVolume follows when no pod wants the volume",
		of: about{checks: []string{fails}, kinds: []string{"stage"}, words: isOpen}, changed: version.UncertainMounts.Entry()},
	{ids: "K-ATT-5", says: "the kubelet waits until the status of its Node lists the volume as attached",
		of: about{checks: []string{unseen}, words: []string{notListed}}},
	{ids: "K-ATT-7", says: "the kubelet reads the VolumeAttachment once at each attempt, and does not wait for it",
		of: about{checks: []string{unseen}, words: []string{"volume attachment is being deleted", "GET error for volume attachment", "is not attached for volume attachment"}}},
	{ids: "C-OP-4", says: "an attach/detach controller that fails to detach, and starts again before it succeeds, has the volume attached although its VolumeAttachment goes",
		of: about{checks: []string{unseen}, words: []string{"no relationship found between node"}}, shown: controllerOrNone, isHazard: true, changed: uncertainDetach},
	{ids: "K-RECON-5", says: "after a restart the kubelet makes one attempt to unmount a directory without vol_data.json; then the directory stays",
		of: about{checks: []string{remains}}},
	{ids: "K-MNT-1", says: "the kubelet compares the node affinity of the volume with the labels of its node before it mounts",
		of: about{checks: []string{fails}, kinds: mounting, words: []string{"no matching NodeSelectorTerms"}}},
	{ids: "K-MNT-3", says: "the kubelet mounts a ReadWriteOncePod volume for one pod only",
		of: about{checks: []string{fails}, kinds: mounting, words: []string{"ReadWriteOncePod access mode"}}},
	{ids: "K-PUB-7", says: "an inline volume needs a CSIDriver object with the lifecycle mode Ephemeral",
		of: about{checks: []string{fails}, kinds: mounting, words: []string{`volume mode "Ephemeral" not supported`}}},
	{ids: "K-PUB-13", says: "the kubelet reads the secret from the API at each attempt, so the next one sees a secret that was created meanwhile",
		of: about{checks: []string{fails}, kinds: mounting, words: []string{"fetching NodeStageSecretRef", "fetching NodePublishSecretRef"}}},
	{ids: "K-UNPUB-3", says: "the kubelet repeats NodeUnpublishVolume after every code, also after NotFound, and emits no Event about it",
		of: about{checks: []string{fails}, kinds: []string{"unpublish"}}},
	{ids: "K-UNSTAGE-2", says: "the kubelet does not unstage a volume of which another mount exists",
		of: about{checks: []string{fails}, kinds: []string{"unstage"}, words: []string{"still mounted by other references"}}},
	{ids: "K-PATH-3", says: "a volume that a kubelet before v1.24 staged stays at its old path for ever, unless the node was drained before the upgrade",
		of: about{checks: []string{fails}, kinds: ofKubelet, words: []string{"kubernetes.io/csi/pv/"}}, shown: hasStagingByHandle, isHazard: true},
}

var ofAttachments = []statement{
	{ids: "C-ADC-31, C-ADC-35", says: "a volume that only one node may use is attached to another only after it was detached",
		of: about{checks: []string{refuses}}},
	{ids: "C-ADC-24", says: "a volume of a node that does not report its unmount is detached by force after 6 minutes, if the node is not ready and the pod was deleted",
		of: about{checks: []string{refuses}}, shown: holderIsDown},
	{ids: "C-ADC-25, C-ADC-62", says: "the taint node.kubernetes.io/out-of-service has the pods of a node deleted and their volumes detached at once",
		of: about{checks: []string{refuses}}, shown: holderIsDown, changed: version.OutOfService.Entry()},
	{ids: "C-ADC-24", says: "a volume of a node that does not report its unmount is detached by force after 6 minutes",
		of: about{checks: []string{forces}}, changed: detachOfHealthyNodes},
	{ids: "C-ADC-6, C-ADC-40, K-ATT-2", says: "an attach/detach controller that starts again takes a volume for mounted until its node reports anew, which a node without news does after 2.5 to 7.5 minutes",
		of: about{checks: []string{refuses, forces, keeps}}, shown: controllerStarted, isHazard: true},
	{ids: "C-CSIP-9", says: "kube-controller-manager waits 2 minutes for csi-attacher, then fails and retries",
		of: about{checks: []string{fails}, words: []string{"timed out waiting for external-attacher"}}},
	{ids: "C-ATT-25, C-MIG-4", says: "a volume is attached also to a node whose CSINode lacks the driver, and csi-attacher, which takes the node's id from there, fails",
		of: about{checks: []string{fails}, kinds: ofAttacher, words: []string{"CSINode"}}},
	{ids: "C-ATT-12", says: "csi-attacher does not attach a volume whose PersistentVolume is being deleted",
		of: about{checks: []string{fails}, kinds: []string{"attach"}, words: []string{"marked for deletion"}}},
	{ids: "C-ATT-20", says: "csi-attacher needs the PersistentVolume to detach: without it, it retries for ever",
		of: about{checks: []string{fails}, kinds: []string{"detach"}, words: []string{`persistentvolume "`}}, isHazard: true},
	{of: about{checks: []string{fails, waits}, words: []string{"ResourceExhausted", "max volume count"}}, changed: version.MutableAllocatable.Entry(), shown: isAboutLimits},
}

// uncertainDetach is a change of which csisim does not simulate the older behaviour. Patch releases
// from 1.26.10, 1.27.7 and 1.28.3 have it, too.
var uncertainDetach = version.Entry{
	Since: 29, After: "A volume that could not be detached counts as perhaps attached, and is attached again if a pod needs it.",
	Before: "The volume counts as attached after a failed detachment. 1.26.10, 1.27.7 and 1.28.3 have the change.", Source: "kubernetes/kubernetes#120595; C-OP-4",
}

// detachOfHealthyNodes is a change of which csisim does not simulate the older behaviour.
var detachOfHealthyNodes = version.Entry{
	Since: 25, After: "Only volumes of nodes that are not ready are detached by force.",
	Before: "A volume is detached by force after 6 minutes, also from a healthy node with a slow NodeUnstageVolume.", Source: "kubernetes/kubernetes#110721; C-ADC-24",
}

var ofProvisioning = []statement{
	{ids: "C-PROV-13, C-PROV-60", says: "after a code such as DeadlineExceeded csi-provisioner repeats CreateVolume until another code comes, also for a deleted claim",
		of: about{checks: []string{fails}, kinds: []string{"provision"}, words: isOpen}},
	{ids: "C-PROV-60, C-PROV-61", says: "after ResourceExhausted csi-provisioner takes the chosen node back from a claim, if the driver has topology, and the scheduler chooses again",
		of: about{checks: []string{fails}, kinds: []string{"provision"}, words: []string{"ResourceExhausted"}}},
	{ids: "C-PROV-15", says: "after InvalidArgument csi-provisioner makes no call for 5 minutes, unless the class is replaced",
		of: about{checks: []string{fails}, kinds: []string{"provision"}, words: []string{"InvalidArgument"}}},
	{ids: "C-PROV-31", says: "csi-provisioner takes the topology of a volume from the CSINode of the chosen node and from the node's labels",
		of: about{checks: []string{fails}, kinds: []string{"provision"}, words: []string{"accessibility requirements", "topology"}}},
	{ids: "C-PROV-40", says: "csi-provisioner restores a snapshot only if it is ready, of the same driver, and not larger than the claim",
		of: about{checks: []string{fails}, kinds: []string{"provision"}, words: []string{"snapshot"}}},
	{ids: "C-PROV-41", says: "csi-provisioner clones a claim only if it is bound, of the same namespace and driver, and not larger than the new one",
		of: about{checks: []string{fails}, kinds: []string{"provision"}, words: []string{"clone", "source PVC"}}},
	{ids: "C-PROV-73", says: "csi-provisioner does not call DeleteVolume while a VolumeAttachment names the volume",
		of: about{checks: []string{fails}, kinds: []string{"delete"}, words: []string{"is still attached to node"}}},
	{ids: "C-PV-42, C-PROV-10", says: "csi-provisioner acts on a claim whose annotation names its driver, and with a class that waits for a consumer only after a node was chosen",
		of: about{checks: []string{"not-provisioned"}}},
	{ids: "C-PV-11", says: "a claim without a class waits for a default class, or for a volume without a class that fits",
		of: about{checks: []string{"claim-without-class"}}, changed: version.LateDefaultClass.Entry()},
}

var ofExpansion = []statement{
	{ids: "C-RES-20, C-RES-21", says: "after InvalidArgument, OutOfRange or NotFound csi-resizer tries once more, then every 5 minutes; another size is tried at once",
		of: about{checks: []string{fails}, kinds: []string{"resize"}, words: []string{"InvalidArgument", "OutOfRange", "NotFound"}}},
	{ids: "C-RES-16, K-EXP-13", says: "after FailedPrecondition a volume is not expanded while a pod uses the claim",
		of: about{checks: []string{fails}, kinds: expanding, words: []string{"FailedPrecondition"}}},
	{ids: "K-EXP-10, K-EXP-12", says: "after InvalidArgument, OutOfRange or NotFound of NodeExpandVolume the claim is marked NodeResizeInfeasible",
		of: about{checks: []string{fails}, kinds: []string{"node resize"}, words: []string{"InvalidArgument", "OutOfRange", "NotFound"}}},
	{of: about{checks: []string{fails}, kinds: expanding}, changed: version.SmallerExpansion.Entry()},
	{of: about{checks: []string{fails}, kinds: []string{"node resize"}, words: []string{"secret"}}, changed: version.NodeExpandSecret.Entry()},
}

var ofSnapshots = []statement{
	{ids: "C-SNAP-35, C-SNAP-36", says: "csi-snapshotter repeats CreateSnapshot with the same name until the snapshot is ready, whatever the code was",
		of: about{checks: []string{fails, hangs}, kinds: []string{"snapshot"}}},
	{ids: "C-SNAP-32", says: "a VolumeSnapshotContent that is deleted by hand is deleted at the storage only after its VolumeSnapshot is",
		of: about{checks: []string{keeps}, words: []string{"VolumeSnapshotContent "}}, shown: isDeletedByHand, isHazard: true},
	{ids: "C-SNAP-30", says: "if csi-snapshotter misses the deletion of a snapshot, it notices the deletion only at its next resync, up to 15 minutes later",
		of: about{checks: []string{keeps}, words: []string{"VolumeSnapshotContent "}}, shown: isMissed, isHazard: true},
	{ids: "C-SNAP-18", says: "a VolumeSnapshot is not deleted while a pending claim names it as its source",
		of: about{checks: []string{keeps}, words: []string{"VolumeSnapshot "}}},
}

var ofScheduling = []statement{
	{ids: "C-SCHED-2, C-SCHED-3", says: "a pod runs only where the node affinity of each of its volumes fits the node's labels",
		of: about{checks: []string{waits}, words: []string{"volume node affinity conflict", "didn't match PersistentVolume's node affinity"}}},
	{ids: "C-SCHED-4, C-SCHED-5", says: "a claim without a volume needs one of its class that fits the node, or a class with a provisioner and matching allowedTopologies",
		of: about{checks: []string{waits}, words: []string{"didn't find available persistent volumes"}}},
	{ids: "C-SCHED-6", says: "with storageCapacity a node counts only if a CSIStorageCapacity of the class has room for the claim there",
		of: about{checks: []string{waits}, words: []string{"did not have enough free storage"}}},
	{ids: "C-SCHED-21, C-SCHED-23", says: "the limit is allocatable.count of the CSINode, and VolumeAttachments count also while they are being deleted",
		of: about{checks: []string{waits}, words: []string{"max volume count"}}},
	{ids: "C-SCHED-24", says: "a volume that is still attached to a node and that no pod there uses counts twice",
		of: about{checks: []string{waits}, words: []string{"max volume count"}}, shown: hasAttachment, isHazard: true},
	{ids: "C-SCHED-1", says: "a pod is scheduled only after its claims with the binding mode Immediate are bound",
		of: about{checks: []string{waits}, words: []string{"unbound immediate PersistentVolumeClaims"}}},
	{ids: "C-SCHED-50", says: "a claim with ReadWriteOncePod serves one pod of the cluster",
		of: about{checks: []string{waits}, words: []string{"ReadWriteOncePod", "in-use by another pod"}}},
}

var ofObjects = []statement{
	{ids: "C-PVCP-1", says: "a claim that is being deleted stays while a pod uses it, also a pod that is being deleted",
		of: about{checks: []string{keeps}, words: []string{"PersistentVolumeClaim "}}},
	{ids: "C-PVP-1", says: "a PersistentVolume that is being deleted stays while a claim is bound to it",
		of: about{checks: []string{keeps}, words: []string{"PersistentVolume "}}},
	{ids: "C-ATT-17", says: "csi-attacher sets its finalizer before the call, so an attachment that failed is detached, too, before the object goes",
		of: about{checks: []string{keeps}, words: []string{"VolumeAttachment "}}},
	{ids: "C-ADC-63", says: "attachments to a Node that was deleted stay for 6 minutes after their pods, if the volume was in use there",
		of: about{checks: []string{keeps, refuses}}, shown: holderIsDeleted, isHazard: true},
}

var ofAddons = []statement{
	{ids: "A-RS-3, A-EKR-1", says: "a job of CSI-Addons counts each attempt that fails, is given up after six more than the first, and stays as it has ended",
		of: about{checks: []string{addons}, words: []string{"Job "}}, isHazard: true},
	{ids: "A-NF-3", says: "a NetworkFence that fails is retried for ever, with growing delays",
		of: about{checks: []string{addons}, words: []string{"NetworkFence "}}},
	{ids: "A-NF-5", says: "a NetworkFence is deleted at once, and the driver is not called to unfence its clients",
		of: about{checks: []string{addons}, words: []string{"NetworkFence "}}, shown: wasFenced, isHazard: true},
}
