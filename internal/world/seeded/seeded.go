// Package seeded has bugs that Kubernetes' own programs could have, planted in csisim's kubelet and
// controllers: a search must find them to be worth its time. Only tests enable one.
package seeded

// Mistake is one mistake.
type Mistake int

const (
	none Mistake = iota
	// DetachedAtError: csi-attacher takes its finalizer off an attachment although
	// ControllerUnpublishVolume failed.
	DetachedAtError
	// AttachedAtError: csi-attacher writes that a volume is attached although
	// ControllerPublishVolume failed.
	AttachedAtError
	// DeletedAtError: csi-provisioner removes a PersistentVolume although DeleteVolume failed.
	DeletedAtError
	// SnapshotDeletedAtError: csi-snapshotter lets a content go although DeleteSnapshot failed.
	SnapshotDeletedAtError
	// UnpublishedAtError: the kubelet takes a volume for unpublished although NodeUnpublishVolume
	// failed.
	UnpublishedAtError
	// UnstagedAtError: the kubelet takes a volume for unstaged although NodeUnstageVolume failed.
	UnstagedAtError
	// NotReconstructed: a restarted kubelet does not look for the volumes that it had mounted.
	NotReconstructed
	// StatusWrittenOnce: a kubelet does not repeat a write of a pod's status that the API server
	// has rejected.
	StatusWrittenOnce
	// MountedWhileUnstaged: the kubelet publishes a volume for a pod while it unstages the same
	// volume of the previous pod.
	MountedWhileUnstaged
	// AttachedFromOldView: an attach/detach controller that restarts takes no volume for attached.
	AttachedFromOldView
	// DetachedBeforeEnd: csi-attacher removes its finalizer from an attachment before it calls
	// ControllerUnpublishVolume.
	DetachedBeforeEnd
	// DeletedInUse: csi-provisioner reads that a volume is released, and deletes it without reading
	// its attachments.
	DeletedInUse
	// StagedUnattached: the kubelet stages a volume without waiting for its attachment.
	StagedUnattached
	// ContextForgotten: the kubelet does not send drivers the context of an attachment.
	ContextForgotten
)

// planted is the mistake that is made.
var planted Mistake

// IsMade reports whether a mistake is made here.
func IsMade(m Mistake) bool { return planted == m }

// Plant has a mistake made in all runs of a test, which must not run beside others.
func Plant(t interface{ Cleanup(func()) }, m Mistake) {
	planted = m
	t.Cleanup(func() { planted = none })
}
