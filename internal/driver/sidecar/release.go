package sidecar

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/version"
)

// Release is a minor version of a sidecar, such as "5.0". The zero value is the newest.
type Release string

// releases lists the simulated changes in releases, by program.
var releases = map[string][]Release{
	"csi-provisioner": {"4.0", "5.0", "5.1", "5.2", "5.3", "6.0", "6.1", "6.2", "6.3"},
	"csi-attacher":    {"4.5", "4.6", "4.7", "4.8", "4.9", "4.10", "4.11", "4.12", "4.13"},
	"csi-resizer":     {"1.10", "1.11", "1.12", "1.13", "1.14", "2.0", "2.1", "2.2", "2.3"},
	"csi-snapshotter": {"6.0", "6.1", "6.2", "6.3", "7.0", "8.0", "8.1", "8.2", "8.3", "8.4", "8.5", "8.6"},
}

// Change is a change in a sidecar's release that affects drivers. Before and After describe the
// behaviour that a driver or a user sees.
type Change struct {
	Program, What string
	Since         Release
	Before, After string
	Source        string
}

// The changes that are simulated.
var (
	DetachedLast = Change{"csi-attacher", "Order of a detach", "4.8",
		"The VolumeAttachment is first marked as detached, and then loses its finalizer: the first update can lead to a second ControllerUnpublishVolume.",
		"The finalizer is removed first.", "kubernetes-csi/external-attacher#624; C-ATT-20"}
	AttachErrorCode = Change{"csi-attacher", "Code of attach errors", "4.10",
		"VolumeAttachments have only the message of an error: after RESOURCE_EXHAUSTED the kubelet does not request the attach limit again.",
		"status.attachError has the gRPC code.", "kubernetes-csi/external-attacher#662; C-ATT-16"}
	HonorsReclaimPolicy = Change{"csi-provisioner", "Volumes that are deleted before their claims", "5.0",
		"The PersistentVolume is deleted with its claim, without DeleteVolume: the volume stays in the storage. There is no finalizer of csi-provisioner.",
		"A finalizer keeps the PersistentVolume until DeleteVolume has succeeded.", "gate HonorPVReclaimPolicy, kubernetes-csi/external-provisioner#1209; C-PROV-71, C-PROV-72"}
	ProvisionsAttributes = Change{"csi-provisioner", "VolumeAttributesClass of new volumes", "6.0",
		"The class of a claim is ignored: CreateVolume has no mutable_parameters, and the volume has no class, so the claim is not bound.",
		"CreateVolume has its parameters.", "gate VolumeAttributesClass, kubernetes-csi/external-provisioner#1400; C-PROV-20"}
	RecoversExpansion = Change{"csi-resizer", "Expansions that fail", "1.13",
		"Claims have no status.allocatedResources and no ControllerResizeError, and infeasible expansions are retried like others.",
		"The claim records the expansion in progress and its error; infeasible expansions are not repeated for five minutes.", "gate RecoverVolumeExpansionFailure, kubernetes-csi/external-resizer#459; C-RES-14, C-RES-20"}
	ModifiesVolumes = Change{"csi-resizer", "Modification of volumes", "2.0",
		"A changed VolumeAttributesClass of a claim is ignored: there is no ControllerModifyVolume.",
		"The driver modifies the volume.", "gate VolumeAttributesClass, kubernetes-csi/external-resizer#515; C-RES-40"}
	InfeasibleClaims = Change{"csi-provisioner", "Infeasible claims", "6.0",
		"CreateVolume is retried after InvalidArgument, as after any other error.",
		"It is not repeated for five minutes.", "kubernetes-csi/external-provisioner#1369; C-PROV-15"}
	ProtectedSnapshots = Change{"csi-provisioner", "Snapshots as sources", "6.2",
		"A snapshot can be deleted while a volume is created from it.",
		"A finalizer keeps the snapshot until the claim is bound.", "kubernetes-csi/external-provisioner#1458; C-PROV-44"}
	NoNodeExpansion = Change{"csi-resizer", "Volumes that need no expansion on nodes", "2.0",
		"Kubelets are not informed that ControllerExpandVolume requires no expansion on nodes.",
		"The claim has the annotation volume.kubernetes.io/node-expansion-not-required.", "kubernetes-csi/external-resizer#496; C-RES-22"}
	RetriesUnready = Change{"csi-snapshotter", "Retries until a snapshot is ready", "7.0",
		"ListSnapshots for an existing snapshot that is not ready is called again after 15 minutes.",
		"It is called again after a pause that doubles each time.", "kubernetes-csi/external-snapshotter#958; C-SNAP-36"}
	IgnoresOwnWrites = Change{"csi-snapshotter", "Pauses until a snapshot is ready", "8.0",
		"Each call writes to the content, and each write leads to another CreateSnapshot, as fast as the limit of requests permits.",
		"CreateSnapshot is called again after a pause that doubles each time.", "kubernetes-csi/external-snapshotter#1009; C-SNAP-31"}
	MakesGroups = Change{"csi-snapshotter", "Group snapshots", "7.0",
		"6.0 to 6.2 have no groups, and 6.3 cannot delete them. These releases are simulated without groups, and a note reports it.",
		"Groups are created and deleted. 7.0 to 8.1 use objects of v1alpha1; in a simulation they use v1, as later releases do.",
		"kubernetes-csi/external-snapshotter#882, #952 and #1150; C-GSNAP-1, C-GSNAP-5"}
	MembersGoWithGroup = Change{"csi-snapshotter", "Deletion of groups", "8.2",
		"DeleteSnapshot is called for each member, beside DeleteVolumeGroupSnapshot for the group.",
		"The members are deleted with the group.", "kubernetes-csi/external-snapshotter#1231; C-GSNAP-9"}
	ResyncsContents = Change{"csi-snapshotter", "Resync of contents", "8.3",
		"8.0 to 8.2 do not check every 15 minutes the contents that are not ready or are to be deleted.",
		"They are checked again, as before 8.0.", "kubernetes-csi/external-snapshotter#1302; C-SNAP-31"}
	DeletesOnceReady = Change{"csi-snapshotter", "Deletion while a snapshot is taken", "8.6",
		"8.0 to 8.5 forget the deletion when the snapshot becomes ready, until the next resync.",
		"The snapshot is deleted as soon as it is ready.", "kubernetes-csi/external-snapshotter#1392; C-SNAP-31"}
)

// Changes lists all changes, by program and release.
func Changes() []Change {
	return []Change{
		DetachedLast, AttachErrorCode, HonorsReclaimPolicy, ProvisionsAttributes, InfeasibleClaims, ProtectedSnapshots,
		RecoversExpansion, NoNodeExpansion, ModifiesVolumes,
		MakesGroups, RetriesUnready, IgnoresOwnWrites, MembersGoWithGroup, ResyncsContents, DeletesOnceReady,
	}
}

// Has reports whether the release behaves as after a change.
func (r Release) Has(c Change) bool {
	return r == "" || version.MustParseGeneric(string(r)).AtLeast(version.MustParseGeneric(string(c.Since)))
}

// Gate reports whether a feature gate is on: as given, or by default as in the release.
func (r Release) Gate(given *bool, c Change) bool {
	if given != nil {
		return *given
	}
	return r.Has(c)
}

// OfImage returns the release of the program in an image with a tag such as v4.10.1, and whether
// its behaviour is known. Tags that are not versions, and later versions, mean the newest release.
func OfImage(program, tag string) (r Release, known bool) {
	all := releases[program]
	v, err := version.ParseGeneric(tag)
	if err != nil || len(all) == 0 || v.AtLeast(version.MustParseGeneric(string(all[len(all)-1]))) {
		return "", true
	}
	r = Release(fmt.Sprintf("%d.%d", v.Major(), v.Minor()))
	return r, slices.Contains(all, r)
}

// Check refuses an unknown release of a program.
func (r Release) Check(program string) []Mistake {
	if r == "" || slices.Contains(releases[program], r) {
		return nil
	}
	var known []string
	for _, release := range releases[program] {
		known = append(known, string(release))
	}
	return []Mistake{{"version", fmt.Sprintf("%q", r), "one of " + strings.Join(known, ", ")}}
}
