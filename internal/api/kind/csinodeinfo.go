package store

import (
	"regexp"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/legacy"
)

// mechanism is the pattern of the CustomResourceDefinition, which is not anchored. L-OBJ-4
var mechanism = regexp.MustCompile("in-tree|csi")

var csiNodeInfoRules = rules{
	validate:       func(obj Object) field.ErrorList { return checkCSINodeInfo(obj.(*legacy.CSINodeInfo)) },
	validateUpdate: func(obj, _ Object) field.ErrorList { return checkCSINodeInfo(obj.(*legacy.CSINodeInfo)) },
}

func checkCSINodeInfo(n *legacy.CSINodeInfo) field.ErrorList {
	var errs field.ErrorList
	for i, d := range n.Status.Drivers {
		if !mechanism.MatchString(string(d.VolumePluginMechanism)) {
			errs = append(errs, field.Invalid(field.NewPath("status", "drivers").Index(i).Child("volumePluginMechanism"),
				d.VolumePluginMechanism, "should match '"+mechanism.String()+"'"))
		}
	}
	return errs
}
