package explain

import (
	"maps"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/incident/fields"
	"github.com/csisim/csisim/internal/incident/messages"
	"github.com/csisim/csisim/internal/world/version"
)

// happened records that a program started, or lost the connection to its driver.
func (s *Story) happened(f *fact) {
	switch f.means {
	case messages.ProgramStarted, messages.BecameLeader:
		s.started[[2]string{f.by, f.node}] = f.at
	case messages.ConnectionLost:
		s.disconnected[f.by] = f.at
	}
}

// controllerStarted reports whether kube-controller-manager started before the end of a finding.
func controllerStarted(s *Story, f *Finding) bool {
	if f.Rule == keeps && !strings.HasPrefix(f.Title, "VolumeAttachment ") {
		return false
	}
	for key, at := range s.started { // in any order: one is enough
		if key[0] == "kube-controller-manager" && at <= f.Until {
			return true
		}
	}
	return false
}

// controllerOrNone reports whether kube-controller-manager started, or its log is missing.
func controllerOrNone(s *Story, f *Finding) bool {
	return s.Sources["kube-controller-manager"] == 0 || controllerStarted(s, f)
}

func kubeletStarted(s *Story, f *Finding) bool {
	at, started := s.started[[2]string{"kubelet", f.node}]
	return started && at <= f.Until
}

// leftInCSINode reports whether the CSINode of a node still lists the unregistered driver.
func leftInCSINode(s *Story, f *Finding) bool {
	return f.of != nil && slices.ContainsFunc(fields.List(s.objects["csinodes/"+f.node], "spec", "drivers"), func(d map[string]any) bool {
		return fields.Text(d, "name") == driverIn(f.of.Error)
	})
}

// lostDriver reports whether the sidecar of an operation lost its driver before the last attempt.
func lostDriver(s *Story, f *Finding) bool {
	return slices.ContainsFunc(f.operations(), func(o *Operation) bool {
		at, lost := s.disconnected[owners[o.Kind]]
		return lost && at <= f.Until
	})
}

// hasStagingByHandle reports whether all nodes use the staging path of v1.24.
func hasStagingByHandle(s *Story, _ *Finding) bool {
	oldest := version.Version(0)
	for key, object := range s.objects { // in any order: the oldest one counts
		if v, known := version.OfRelease(fields.Text(object, "status", "kubeletVersion")); known && strings.HasPrefix(key, "nodes/") && (oldest == 0 || v < oldest) {
			oldest = v
		}
	}
	return oldest != 0 && oldest.Has(version.StagingByHandle)
}

func holderIsDown(_ *Story, f *Finding) bool { return strings.HasPrefix(f.Component, "node ") }

// holderIsDeleted reports whether the Node with the volume is missing although other Nodes exist.
func holderIsDeleted(s *Story, f *Finding) bool {
	holder := f.node
	if f.Rule == refuses {
		holder = f.holder
	}
	isNode := func(key string) bool { return strings.HasPrefix(key, "nodes/") }
	return holder != "" && s.objects["nodes/"+holder] == nil && slices.ContainsFunc(slices.Collect(maps.Keys(s.objects)), isNode)
}

// isAboutLimits reports whether a finding is about the limit of volumes on a node.
func isAboutLimits(_ *Story, f *Finding) bool {
	return f.Rule == waits || slices.ContainsFunc(f.operations(), func(o *Operation) bool { return o.Kind == "attach" })
}

// isDeletedByHand reports whether a content is being deleted, and its snapshot is not.
func isDeletedByHand(s *Story, f *Finding) bool {
	return f.object != nil && fields.Text(f.object, "metadata", "annotations", "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted") == ""
}

// isMissed reports whether the log of csi-snapshotter has no attempt to delete a content.
func isMissed(s *Story, f *Finding) bool {
	return s.Sources["csi-snapshotter"] > 0 && !isDeletedByHand(s, f) && len(s.find("snapshot delete", f.volume)) == 0
}

// hasAttachment reports whether an attachment to some node exists.
func hasAttachment(s *Story, _ *Finding) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(s.objects)), func(key string) bool { return strings.HasPrefix(key, "volumeattachments/") })
}

func wasFenced(_ *Story, f *Finding) bool {
	return fields.Text(f.object, "spec", "fenceState") != "Unfenced"
}
