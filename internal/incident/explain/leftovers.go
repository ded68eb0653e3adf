package explain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/incident/fields"
)

// removers are the components that remove a finalizer.
var removers = map[string]string{
	"kubernetes.io/pvc-protection":                                                    "kube-controller-manager removes it when no pod uses the claim",
	"kubernetes.io/pv-protection":                                                     "kube-controller-manager removes it when no claim is bound to the volume",
	"external-provisioner.volume.kubernetes.io/finalizer":                             "csi-provisioner removes it when DeleteVolume has succeeded",
	"snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection":           "csi-snapshotter removes it when DeleteSnapshot has succeeded",
	"groupsnapshot.storage.kubernetes.io/volumegroupsnapshotcontent-bound-protection": "csi-snapshotter removes it when DeleteVolumeGroupSnapshot has succeeded",
	"snapshot.storage.kubernetes.io/volumesnapshot-bound-protection":                  "snapshot-controller removes it when the content is deleted",
}

// remover returns the component that removes a finalizer.
func remover(finalizer string) string {
	if strings.HasPrefix(finalizer, "external-attacher/") {
		return "csi-attacher removes it when ControllerUnpublishVolume has succeeded"
	}
	return removers[finalizer]
}

// lingers is the time after which a deletion is worth a finding.
const lingers = time.Minute

// An object is being deleted, and a finalizer keeps it.
var _ = register("finalizer-stays", consequence, func(s *Story) (found []Finding) {
	for _, key := range slices.Sorted(maps.Keys(s.objects)) {
		resource, name, _ := strings.Cut(key, "/")
		object := s.objects[key]
		deleted := fields.Text(object, "metadata", "deletionTimestamp")
		finalizers, _ := fields.At(object, "metadata", "finalizers").([]any)
		if deleted == "" || len(finalizers) == 0 || resource == "pods" || s.since(deleted) < lingers {
			continue
		}
		found = append(found, s.keptBy(resource, name, finalizers, s.Ended-s.since(deleted)))
	}
	return found
})

// since returns the time between a time and the end; 0 if the time is unreadable.
func (s *Story) since(stamp string) time.Duration {
	t, err := time.Parse(time.RFC3339, stamp)
	if err != nil || s.Began.IsZero() {
		return 0
	}
	return s.Began.Add(s.Ended).Sub(t)
}

func (s *Story) keptBy(resource, name string, finalizers []any, since time.Duration) Finding {
	f := Finding{
		Title: fmt.Sprintf("%s %s is being deleted and stays", singular(resource), shortName(name)), Certainty: Certain, Since: since, Until: s.Ended, Component: "unknown",
		volume: s.names.group[keyOf(resource)+name].now(), object: s.objects[resource+"/"+name],
	}
	for _, finalizer := range finalizers {
		by := remover(fmt.Sprint(finalizer))
		if by == "" {
			by = "another component removes it"
			f.Certainty = Unknown
		} else {
			f.Component, _, _ = strings.Cut(by, " ")
		}
		f.Chain = append(f.Chain, fmt.Sprintf("finalizer %v: %s", finalizer, by))
	}
	if resource == "volumeattachments" && s.names.group[byAttachment+name] != nil {
		f.node = s.names.group[byAttachment+name].now().Attachments[name]
	}
	return f
}

func keyOf(resource string) string {
	return map[string]string{"persistentvolumes": byPV, "persistentvolumeclaims": byClaim, "volumeattachments": byAttachment}[resource]
}

func singular(resource string) string {
	names := map[string]string{
		"persistentvolumes": "PersistentVolume", "persistentvolumeclaims": "PersistentVolumeClaim", "volumeattachments": "VolumeAttachment",
		"volumesnapshots": "VolumeSnapshot", "volumesnapshotcontents": "VolumeSnapshotContent",
		"volumegroupsnapshots": "VolumeGroupSnapshot", "volumegroupsnapshotcontents": "VolumeGroupSnapshotContent",
	}
	if name := names[resource]; name != "" {
		return name
	}
	return resource
}
