// Package seeded has bugs that Kubernetes' own programs could have, planted in csisim's kubelet and
// controllers. They prove that a search can find such bugs. Only tests enable one.
package seeded

// Mistake is one mistake.
type Mistake int

const (
	none Mistake = iota
	// DetachedAtError: csi-attacher removes its finalizer from an attachment although
	// ControllerUnpublishVolume failed.
	DetachedAtError
	// AttachedAtError: csi-attacher writes that a volume is attached although
	// ControllerPublishVolume failed.
	AttachedAtError
	// DeletedAtError: csi-provisioner removes a PersistentVolume although DeleteVolume failed.
	DeletedAtError
	// SnapshotDeletedAtError: csi-snapshotter removes its finalizer from a content although
	// DeleteSnapshot failed.
	SnapshotDeletedAtError
	// UnpublishedAtError: the kubelet treats a volume as unpublished although NodeUnpublishVolume
	// failed.
	UnpublishedAtError
	// UnstagedAtError: the kubelet treats a volume as unstaged although NodeUnstageVolume failed.
	UnstagedAtError
	// NotReconstructed: a restarted kubelet does not look for its previously mounted volumes.
	NotReconstructed
	// StatusWrittenOnce: a kubelet does not repeat a rejected write of a pod's status.
	StatusWrittenOnce
	// MountedWhileUnstaged: the kubelet publishes a volume for a pod while it is still unstaging
	// the volume after the previous pod.
	MountedWhileUnstaged
	// AttachedFromOldView: a restarted attach/detach controller treats no volume as attached.
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

// planted is the enabled mistake.
var planted Mistake

// IsMade reports whether a mistake is made here.
func IsMade(m Mistake) bool { return planted == m }

// Plant enables a mistake in all runs of a test, which must not run in parallel to others.
func Plant(t interface{ Cleanup(func()) }, m Mistake) {
	planted = m
	t.Cleanup(func() { planted = none })
}
