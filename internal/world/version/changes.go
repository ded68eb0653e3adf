package version

// Change is one thing that a release of Kubernetes changed for CSI drivers.
type Change string

// The changes that are simulated.
const (
	// CSINode: the kubelet reports its drivers in a CSINode, not in a CSINodeInfo.
	CSINode Change = "CSINode"
	// CSINodeAtStartup: a kubelet creates its CSINode when it starts.
	CSINodeAtStartup Change = "CSINode at start-up"
	// MigrationInDesiredState: the desired state, not the operation, decides whether a migrated
	// volume belongs to the driver.
	MigrationInDesiredState Change = "Migrated volumes of nodes without CSINode"
	// UncertainMounts: a call that may have taken effect is undone.
	UncertainMounts Change = "Uncertain mounts"
	// FSGroupPolicy: a CSIDriver determines whether the kubelet changes the group of files.
	FSGroupPolicy Change = "fsGroupPolicy"
	// ServiceAccountTokens: a driver can request pods' tokens, and repeated publishing.
	ServiceAccountTokens Change = "Service account tokens"
	// JobTTL: jobs can be deleted some time after they have finished.
	JobTTL Change = "TTL of finished jobs"
	// MountGroup: a driver with this capability applies the fsGroup itself.
	MountGroup Change = "VOLUME_MOUNT_GROUP"
	// StagingByHandle: the staging path is made of the driver and the volume's handle.
	StagingByHandle Change = "Staging path"
	// InlineFSGroup: inline volumes change the group of their files.
	InlineFSGroup Change = "fsGroup of inline volumes"
	// TaintAdmission: kubelets reject pods that do not tolerate a taint of the node.
	TaintAdmission Change = "Taints at the kubelet"
	// DataSourceRef: the API keeps a claim's dataSourceRef.
	DataSourceRef Change = "Data sources of other kinds"
	// OutOfService: volumes are detached at once from a node with the taint out-of-service.
	OutOfService Change = "Out-of-service taint"
	// NewestDefaultClass: if there are several default classes, the newest counts.
	NewestDefaultClass Change = "Several default classes"
	// LateDefaultClass: a claim without a class gets the default class as soon as that exists.
	LateDefaultClass Change = "Claims without a class"
	// NodeExpandSecret: NodeExpandVolume has secrets.
	NodeExpandSecret Change = "Secrets of NodeExpandVolume"
	// SingleNodeWriters: access modes distinguish one writer on a node from several.
	SingleNodeWriters Change = "SINGLE_NODE_MULTI_WRITER"
	// OncePod: the API accepts the access mode ReadWriteOncePod.
	OncePod Change = "ReadWriteOncePod"
	// ClaimsOfPendingPods: a StatefulSet recreates claims for an existing Pending pod.
	ClaimsOfPendingPods Change = "Claims of Pending pods"
	// ClaimRetention: a StatefulSet may delete its claims.
	ClaimRetention Change = "Retention of claims"
	// SELinuxMount: volumes of one pod are mounted with its SELinux label.
	SELinuxMount Change = "SELinux mount"
	// PhaseTransitionTime: a volume has the time of its last phase change.
	PhaseTransitionTime Change = "Time of a volume's phase"
	// HonorReclaimPolicy: a finalizer holds a volume until the storage has deleted it.
	HonorReclaimPolicy Change = "Finalizer of volumes of in-tree plugins"
	// OncePodFSGroup: the files of ReadWriteOncePod volumes change their group by default.
	OncePodFSGroup Change = "fsGroup of ReadWriteOncePod volumes"
	// SmallerExpansion: after a failed expansion, a claim can request a smaller size.
	SmallerExpansion Change = "Recovery from failed expansions"
	// PodsBeforeContent: the pods of a deleted namespace are deleted before its other objects.
	PodsBeforeContent Change = "Order in which namespaces are emptied"
	// SELinuxWarnings: the SELinux warning controller can be switched on.
	SELinuxWarnings Change = "SELinux warnings"
	// AttributesClasses: claims can name a VolumeAttributesClass.
	AttributesClasses Change = "VolumeAttributesClass"
	// MutableAllocatable: attach limits are requested again.
	MutableAllocatable Change = "Attach limits that change"
	// TokensInSecrets: tokens can be passed as secrets.
	TokensInSecrets Change = "Tokens as secrets"
)

// Entry is the table's line of a change. Before and After are the effects for a driver.
type Entry struct {
	Change        Change
	Since         Version
	Program       string
	Before, After string
	Source        string
}

// The programs of which the version decides.
const (
	kubelet      = "kubelet"
	controlPlane = "control plane"
	both         = "both"
)

var entries = []Entry{
	{CSINode, 14, both,
		"The kubelet writes a CSINodeInfo of csi.storage.k8s.io/v1alpha1, attach limits go to the Node; the CSIDriver is v1alpha1 too.",
		"The kubelet writes a CSINode of storage.k8s.io.",
		"gate CSINodeInfo, on since v1.14; L-OBJ-9, L-NEXT-1"},
	{CSINodeAtStartup, 17, kubelet,
		"The node's object is created when the first driver registers.",
		"It is created before the node is Ready.",
		"gate CSIMigration, on since v1.17; L-START-1, L-START-2"},
	{MigrationInDesiredState, 17, controlPlane,
		"Attach and detach of a volume of a plugin with enabled migration fail while the node's object, or the driver in it, is missing.",
		"The volume is not desired until the CSINode exists; the drivers in it do not matter.",
		"gates CSIMigration…Complete, since v1.17; C-MIG-3, L-ADC-2, L-ADC-6"},
	{UncertainMounts, 18, kubelet,
		"After a NodeStageVolume or NodePublishVolume without an answer, nothing is undone when the pod is deleted.",
		"The volume may be mounted, so NodeUnpublishVolume and NodeUnstageVolume follow.",
		"kubernetes/kubernetes#82492; K-STAGE-7"},
	{FSGroupPolicy, 20, kubelet,
		"CSIDriver.spec.fsGroupPolicy is ignored: files change their group if the volume is ReadWriteOnce and has an fsType.",
		"fsGroupPolicy decides.",
		"gate CSIVolumeFSGroupPolicy, on since v1.20; K-FSG-1"},
	{ServiceAccountTokens, 21, kubelet,
		"tokenRequests and requiresRepublish are ignored.",
		"NodePublishVolume has the tokens, and is repeated if the driver requests it.",
		"gate CSIServiceAccountToken, on since v1.21; K-PUB-5"},
	{JobTTL, 21, controlPlane,
		"ttlSecondsAfterFinished is ignored: finished jobs, their pods and ephemeral volumes stay.",
		"A job is deleted when its time is over.",
		"gate TTLAfterFinished, on since v1.21; C-TTL-1"},
	{MountGroup, 23, kubelet,
		"The kubelet changes the group of files of every driver.",
		"A driver with VOLUME_MOUNT_GROUP gets volume_mount_group in NodeStageVolume and NodePublishVolume.",
		"gate DelegateFSGroupToCSIDriver, on since v1.23; K-FSG-1"},
	{StagingByHandle, 24, kubelet,
		"Staging path `plugins/kubernetes.io/csi/pv/<PV>/globalmount`.",
		"Staging path `plugins/kubernetes.io/csi/<driver>/<SHA-256 of the handle>/globalmount`. Nodes must be drained before the upgrade: otherwise a staged volume stays at the old path for ever.",
		"kubernetes/kubernetes#107065; K-PATH-3"},
	{InlineFSGroup, 24, kubelet,
		"The group of files of inline volumes changes only with fsGroupPolicy File.",
		"It changes with ReadWriteOnceWithFSType and an fsType, too.",
		"kubernetes/kubernetes#108662; K-FSG-1"},
	{TaintAdmission, 24, kubelet,
		"A kubelet runs pods that do not tolerate a NoExecute taint of its node.",
		"It rejects them with the reason TaintToleration.",
		"kubernetes/kubernetes#101218; K-ADM-2"},
	{DataSourceRef, 24, controlPlane,
		"The API drops dataSourceRef of new claims: a claim that names a populator's object is provisioned as an empty volume.",
		"It keeps dataSourceRef.",
		"gate AnyVolumeDataSource, on since v1.24; C-GEN-14"},
	{OutOfService, 26, controlPlane,
		"The taint node.kubernetes.io/out-of-service only evicts: pods of a dead node stay, and their volumes stay attached.",
		"The pods are deleted and ControllerUnpublishVolume follows at once.",
		"gate NodeOutOfServiceVolumeDetach, on since v1.26; C-ADC-25, C-ADC-62"},
	{NewestDefaultClass, 26, controlPlane,
		"A claim without a class is rejected while several classes are marked as the default.",
		"It gets the newest of them.",
		"kubernetes/kubernetes#110559; C-PV-39"},
	{LateDefaultClass, 26, controlPlane,
		"A claim that is older than the default class stays Pending without a class.",
		"It gets the default class as soon as there is one.",
		"gate RetroactiveDefaultStorageClass, on since v1.26; C-PV-11"},
	{NodeExpandSecret, 27, kubelet,
		"NodeExpandVolume has no secrets.",
		"It has the secrets of nodeExpandSecretRef.",
		"gate CSINodeExpandSecret, on since v1.27; K-EXP-8"},
	{SingleNodeWriters, 27, kubelet,
		"ReadWriteOnce is SINGLE_NODE_WRITER for every driver.",
		"Drivers with SINGLE_NODE_MULTI_WRITER get SINGLE_NODE_MULTI_WRITER for ReadWriteOnce, SINGLE_NODE_SINGLE_WRITER for ReadWriteOncePod.",
		"gate ReadWriteOncePod, on since v1.27; K-RPC-6"},
	{OncePod, 27, controlPlane,
		"The API rejects claims and volumes with the access mode ReadWriteOncePod.",
		"It takes them.",
		"gate ReadWriteOncePod, on since v1.27; C-GEN-14"},
	{ClaimsOfPendingPods, 27, controlPlane,
		"A claim that is deleted while its StatefulSet's pod is Pending is recreated only with the next pod.",
		"The claim is recreated at once.",
		"kubernetes/kubernetes#113270; C-STS-4"},
	{ClaimRetention, 27, controlPlane,
		"persistentVolumeClaimRetentionPolicy is ignored: claims of StatefulSets stay.",
		"Claims are deleted with the set, or when it is scaled down, if the policy requires it.",
		"gate StatefulSetAutoDeletePVC, on since v1.27; C-STS-1"},
	{SELinuxMount, 28, kubelet,
		"CSIDriver.spec.seLinuxMount is ignored.",
		"ReadWriteOncePod volumes are staged and published with -o context.",
		"gate SELinuxMountReadWriteOncePod, on since v1.28; K-CFG-1"},
	{PhaseTransitionTime, 29, controlPlane,
		"Volumes have no status.lastPhaseTransitionTime.",
		"They have one.",
		"gate PersistentVolumeLastPhaseTransitionTime, on since v1.29; C-GEN-14"},
	{HonorReclaimPolicy, 31, controlPlane,
		"The PV controller leaves finalizers of volumes alone.",
		"Volumes of in-tree plugins that are not migrated have kubernetes.io/pv-controller, and not the finalizer of csi-provisioner.",
		"gate HonorPVReclaimPolicy, on since v1.31; C-PV-36"},
	{OncePodFSGroup, 32, kubelet,
		"With fsGroupPolicy ReadWriteOnceWithFSType, which is the default, only ReadWriteOnce volumes change the group of their files.",
		"ReadWriteOncePod volumes, too.",
		"kubernetes/kubernetes#128244; K-FSG-1"},
	{SmallerExpansion, 32, controlPlane,
		"A claim can never request less than before, and has no status.allocatedResources: a failing expansion is repeated for ever.",
		"It can request less than before, but more than its current size.",
		"gate RecoverVolumeExpansionFailure, on since v1.32; C-GEN-14"},
	{PodsBeforeContent, 33, controlPlane,
		"All objects of a deleted namespace are deleted at once and in any order, also claims, secrets and config maps that pods still use.",
		"Its pods are removed before anything else is deleted.",
		"gate OrderedNamespaceDeletion, on since v1.33; C-NS-2"},
	{SELinuxWarnings, 33, controlPlane,
		"There is no selinux-warning-controller.",
		"If it is enabled by name, it emits events on pods that share a volume and have different SELinux labels or policies.",
		"gate SELinuxChangePolicy, on since v1.33; C-SEL-1"},
	{AttributesClasses, 34, controlPlane,
		"The API drops volumeAttributesClassName of claims and volumes.",
		"It keeps volumeAttributesClassName.",
		"gate VolumeAttributesClass, on since v1.34; C-GEN-14"},
	{MutableAllocatable, 35, kubelet,
		"The attach limit is requested at registration only.",
		"NodeGetInfo is repeated every nodeAllocatableUpdatePeriodSeconds and when an attach fails with RESOURCE_EXHAUSTED.",
		"gate MutableCSINodeAllocatableCount, on since v1.35; K-ALLOC-1, K-ALLOC-3"},
	{TokensInSecrets, 35, kubelet,
		"serviceAccountTokenInSecrets is ignored: tokens are in the volume context.",
		"Tokens are among the secrets if the CSIDriver requests it.",
		"gate CSIServiceAccountTokenSecrets, on since v1.35; K-PUB-5"},
}

// Changes returns the table, the oldest change first.
func Changes() []Entry { return entries }

// Before returns the last version without the change.
func (c Change) Before() Version { return c.Entry().Since - 1 }

// Entry is the table's line of the change.
func (c Change) Entry() Entry {
	for _, e := range entries {
		if e.Change == c {
			return e
		}
	}
	panic("version: change " + string(c) + " is not in the table")
}
