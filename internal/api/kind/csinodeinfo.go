package kind

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/store"
)

// L-OBJ-1, L-OBJ-2
func init() {
	register(Kind{
		Group: "csi.storage.k8s.io", Version: "v1alpha1", Name: "CSINodeInfo",
		fresh:  func() store.Object { return &legacy.CSINodeInfo{} },
		traits: ofDefinition | clusterScoped, rules: csiNodeInfoRules,
	})
}

// mechanism is the unanchored pattern of the CustomResourceDefinition. L-OBJ-4
var mechanism = lazyregexp.New("in-tree|csi")

var csiNodeInfoRules = rules[*legacy.CSINodeInfo]{
	validate:       checkCSINodeInfo,
	validateUpdate: func(obj, _ *legacy.CSINodeInfo) field.ErrorList { return checkCSINodeInfo(obj) },
}

func checkCSINodeInfo(n *legacy.CSINodeInfo) field.ErrorList {
	var errs field.ErrorList
	for i, d := range n.Status.Drivers {
		if !mechanism().MatchString(string(d.VolumePluginMechanism)) {
			errs = append(errs, field.Invalid(field.NewPath("status", "drivers").Index(i).Child("volumePluginMechanism"),
				d.VolumePluginMechanism, "should match '"+mechanism().String()+"'"))
		}
	}
	return errs
}
