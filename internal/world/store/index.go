package store

import "slices"

// Index names a secondary index: a question by something else than the key.
type Index string

const (
	// PodsByNode finds pods by spec.nodeName.
	PodsByNode Index = "pods by node"
	// PodsByClaim finds pods by the "namespace/claim" of a volume. The claim of a
	// generic ephemeral volume is "namespace/pod-volume".
	PodsByClaim Index = "pods by claim"
	// VolumesByClaim finds persistent volumes by the "namespace/name" of claimRef.
	VolumesByClaim Index = "volumes by claim"
	// VolumesByHandle finds CSI persistent volumes by "driver^handle".
	VolumesByHandle Index = "volumes by handle"
	// UnboundVolumesByClass finds persistent volumes without a claimRef by their class,
	// which may be empty: that of the old annotation, else spec.storageClassName.
	UnboundVolumesByClass Index = "unbound volumes by class"
	// ClaimsByVolume finds claims by spec.volumeName.
	ClaimsByVolume Index = "claims by volume"
	// ClaimsByClass finds claims by spec.storageClassName, empty or nil being "".
	ClaimsByClass Index = "claims by class"
	// AttachmentsByNode finds volume attachments by spec.nodeName.
	AttachmentsByNode Index = "attachments by node"
	// AttachmentsByVolume finds volume attachments by the persistent volume's name.
	AttachmentsByVolume Index = "attachments by volume"
	// AttachmentsByAttacher finds volume attachments by spec.attacher.
	AttachmentsByAttacher Index = "attachments by attacher"
	// SnapshotsByClaim finds volume snapshots by the "namespace/name" of the claim
	// that they are cut from.
	SnapshotsByClaim Index = "snapshots by claim"
	// OwnerUID finds objects of any resource by the uid of an owner reference.
	OwnerUID Index = "by owner uid"
)

// values appends the values that an object has in an index.
type values func(appendTo []string, obj Object) []string

// indexer is one index of one resource.
type indexer struct {
	index  Index
	values values
}

// of returns the values that the object, which may be nil, has in the index.
func (ix indexer) of(obj Object) []string {
	if obj == nil {
		return nil
	}
	return ix.values(nil, obj)
}

// indexed makes the indexer of a typed object.
func indexed[T Object](index Index, of func(appendTo []string, obj T) []string) indexer {
	return indexer{index, func(appendTo []string, obj Object) []string {
		typed, ok := obj.(T)
		if !ok {
			return appendTo
		}
		return of(appendTo, typed)
	}}
}

var byOwner = indexer{OwnerUID, func(appendTo []string, obj Object) []string {
	for _, owner := range obj.GetOwnerReferences() {
		if uid := string(owner.UID); !slices.Contains(appendTo, uid) {
			appendTo = append(appendTo, uid)
		}
	}
	return appendTo
}}
