package trace

import (
	"fmt"
	"strings"
)

// created describes a new object by the fields that matter for its volume.
func (t *narrator) created(resource string, made map[string]any) string {
	switch resource {
	case "persistentvolumeclaims":
		return spaced(at(made, "spec", "resources", "requests", "storage"), prefixed("class ", at(made, "spec", "storageClassName")),
			joined(at(made, "spec", "accessModes")))
	case "persistentvolumes":
		claim := t.names.key(fmt.Sprintf("%v/%v", at(made, "spec", "claimRef", "namespace"), at(made, "spec", "claimRef", "name")))
		if at(made, "spec", "claimRef") == nil {
			claim = ""
		}
		handle, _ := at(made, "spec", "csi", "volumeHandle").(string)
		return spaced(t.names.in(handle), at(made, "spec", "capacity", "storage"), prefixed("reserved for pvc/", claim))
	case "pods":
		return t.podVolumes(made)
	case "volumeattachments":
		volume, _ := at(made, "spec", "source", "persistentVolumeName").(string)
		return spaced(prefixed("pv/", t.names.in(volume)), prefixed("on ", at(made, "spec", "nodeName")))
	case "storageclasses":
		return spaced(at(made, "provisioner"))
	case "volumesnapshots":
		return spaced(prefixed("of pvc/", at(made, "spec", "source", "persistentVolumeClaimName")))
	default:
		return ""
	}
}

func (t *narrator) podVolumes(made map[string]any) string {
	var shown []string
	for _, v := range maps(at(made, "spec", "volumes")) {
		if claim := at(v, "persistentVolumeClaim", "claimName"); claim != nil {
			shown = append(shown, fmt.Sprintf("pvc/%v", claim))
		}
		if driver := at(v, "csi", "driver"); driver != nil {
			shown = append(shown, fmt.Sprintf("inline volume of %v", driver))
		}
		if at(v, "ephemeral") != nil {
			shown = append(shown, fmt.Sprintf("ephemeral volume %v", v["name"]))
		}
	}
	if len(shown) == 0 {
		return ""
	}
	return "uses " + strings.Join(shown, ", ")
}

func spaced(all ...any) string {
	var shown []string
	for _, w := range all {
		if w != nil && w != "" {
			shown = append(shown, fmt.Sprint(w))
		}
	}
	return strings.Join(shown, " ")
}

// prefixed returns a value with a word before it; empty if there is no value.
func prefixed(word string, value any) string {
	if value == nil || value == "" {
		return ""
	}
	return word + fmt.Sprint(value)
}

func joined(list any) string { return strings.Join(namesOf(list, plainName), " ") }
