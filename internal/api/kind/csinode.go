package kind

import (
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "storage.k8s.io", Version: "v1", Name: "CSINode",
		traits: clusterScoped | conditional, rules: csiNodeRules,
		Columns:        []Column{nameColumn, show("Drivers", "integer", func(n *storagev1.CSINode) any { return int64(len(n.Spec.Drivers)) }), ageColumn},
		AnswersDeleted: true,
	})
}

var csiNodeRules = rules[*storagev1.CSINode]{
	fill: func(obj *storagev1.CSINode) {
		// The stored form has no empty list, but the list is always shown.
		spec := &obj.Spec
		if len(spec.Drivers) == 0 {
			spec.Drivers = nil
		}
		for i := range spec.Drivers {
			if len(spec.Drivers[i].TopologyKeys) == 0 {
				spec.Drivers[i].TopologyKeys = nil
			}
		}
	},
	passes:         []store.Pass{store.PassObject, store.PassChange},
	validate:       checkCSINode,
	validateUpdate: checkCSINodeUpdate,
}

// maxNodeID is the longest node id that a driver may have, in bytes.
const maxNodeID = 256

func checkCSINode(node *storagev1.CSINode) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, driver := range node.Spec.Drivers {
		at := field.NewPath("spec", "drivers").Index(i)
		errs = append(errs, checkCSINodeDriver(at, driver)...)
		if seen[driver.Name] {
			errs = append(errs, field.Duplicate(at.Child("name"), driver.Name))
		}
		seen[driver.Name] = true
		errs = append(errs, topologyKeys(at, driver.TopologyKeys)...)
	}
	return errs
}

func checkCSINodeDriver(at *field.Path, driver storagev1.CSINodeDriver) field.ErrorList {
	errs := driverName(at.Child("name"), driver.Name)
	if driver.NodeID == "" {
		errs = append(errs, field.Required(at.Child("nodeID"), ""))
	}
	if len(driver.NodeID) > maxNodeID {
		errs = append(errs, field.Invalid(at.Child("nodeID"), driver.NodeID, fmt.Sprintf("must be %d characters or less", maxNodeID)))
	}
	if a := driver.Allocatable; a != nil && a.Count != nil && *a.Count < 0 {
		errs = append(errs, field.Invalid(at.Child("allocatable", "count"), *a.Count, "must be greater than or equal to 0"))
	}
	return errs
}

func topologyKeys(at *field.Path, keys []string) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for _, key := range keys {
		if key == "" {
			errs = append(errs, field.Required(at, ""))
		}
		if seen[key] {
			errs = append(errs, field.Duplicate(at, key))
		}
		seen[key] = true
		errs = append(errs, qualifiedName(at, key)...)
	}
	return errs
}

// K-NODE-12: entries of drivers may be added and removed, but only the allocatable count of an
// entry may change.
func checkCSINodeUpdate(node, old *storagev1.CSINode) field.ErrorList {
	var errs field.ErrorList
	for _, was := range old.Spec.Drivers {
		for _, now := range node.Spec.Drivers {
			if was.Name != now.Name {
				continue
			}
			was.Allocatable, now.Allocatable = nil, nil
			if !equality.Semantic.DeepEqual(was, now) {
				errs = append(errs, field.Invalid(field.NewPath("spec", "drivers"), goNames{now}, "field is immutable"))
			}
		}
	}
	return errs
}
