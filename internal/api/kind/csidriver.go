package store

import (
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var driverRules = rules{
	fill:           func(obj Object) { fillDriver(&obj.(*storagev1.CSIDriver).Spec) },
	validate:       func(obj Object) field.ErrorList { return checkDriver(&obj.(*storagev1.CSIDriver).Spec) },
	validateUpdate: checkDriverUpdate,
	prepare:        countDriverChanges,
}

// K-CFG-5: drivers and the kubelet rely on these defaults.
func fillDriver(spec *storagev1.CSIDriverSpec) {
	setDefault(&spec.AttachRequired, true)
	setDefault(&spec.PodInfoOnMount, false)
	setDefault(&spec.StorageCapacity, false)
	setDefault(&spec.FSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	setDefault(&spec.RequiresRepublish, false)
	setDefault(&spec.SELinuxMount, false)
	if len(spec.VolumeLifecycleModes) == 0 {
		spec.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
}

// countDriverChanges bumps a generation that, unlike that of other kinds, begins
// at none.
func countDriverChanges(obj, old Object) {
	now, was := obj.(*storagev1.CSIDriver), old.(*storagev1.CSIDriver)
	if !same(&now.Spec, &was.Spec) {
		now.Generation = was.Generation + 1
	}
}

func checkDriver(spec *storagev1.CSIDriverSpec) field.ErrorList {
	path := field.NewPath("spec")
	errs := oneOf(path.Child("fsGroupPolicy"), *spec.FSGroupPolicy,
		storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy, storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy)
	errs = append(errs, tokenRequests(path.Child("tokenRequests"), spec.TokenRequests)...)
	for _, mode := range spec.VolumeLifecycleModes {
		errs = append(errs, oneOf(path.Child("volumeLifecycleModes"), mode,
			storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral)...)
	}
	if period := spec.NodeAllocatableUpdatePeriodSeconds; period != nil && *period < 10 {
		errs = append(errs, field.Invalid(path.Child("nodeAllocatableUpdatePeriodSeconds"), *period, "must be greater than or equal to 10 seconds"))
	}
	if inSecrets := spec.ServiceAccountTokenInSecrets; inSecrets != nil && len(spec.TokenRequests) == 0 {
		errs = append(errs, field.Invalid(path.Child("serviceAccountTokenInSecrets"), *inSecrets, "serviceAccountTokenInSecrets is set but no tokenRequests are specified"))
	}
	return errs
}

// The limits of a service account token's life, in seconds.
const (
	minTokenLife = 10 * 60
	maxTokenLife = 1 << 32
)

func tokenRequests(path *field.Path, requests []storagev1.TokenRequest) field.ErrorList {
	var errs field.ErrorList
	seen := map[string]bool{}
	for i, request := range requests {
		at := path.Index(i)
		if seen[request.Audience] {
			errs = append(errs, field.Duplicate(at.Child("audience"), request.Audience))
			continue
		}
		seen[request.Audience] = true
		life := request.ExpirationSeconds
		if life != nil && *life < minTokenLife {
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *life, "may not specify a duration less than 10 minutes"))
		}
		if life != nil && *life > maxTokenLife {
			errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *life, "may not specify a duration larger than 2^32 seconds"))
		}
	}
	return errs
}

func checkDriverUpdate(obj, old Object) field.ErrorList {
	now, was := obj.(*storagev1.CSIDriver).Spec, old.(*storagev1.CSIDriver).Spec
	errs := checkDriver(&now)
	errs = append(errs, immutable(field.NewPath("spec", "attachedRequired"), now.AttachRequired, was.AttachRequired)...)
	return append(errs, immutable(field.NewPath("spec", "volumeLifecycleModes"), now.VolumeLifecycleModes, was.VolumeLifecycleModes)...)
}

var csiNodeRules = rules{
	fill: func(obj Object) {
		// The stored form knows no empty list, and this one is always shown.
		spec := &obj.(*storagev1.CSINode).Spec
		if len(spec.Drivers) == 0 {
			spec.Drivers = nil
		}
		for i := range spec.Drivers {
			if len(spec.Drivers[i].TopologyKeys) == 0 {
				spec.Drivers[i].TopologyKeys = nil
			}
		}
	},
	passes:   []pass{whole, rest},
	validate: func(obj Object) field.ErrorList { return checkCSINode(obj.(*storagev1.CSINode)) },
	validateUpdate: func(obj, old Object) field.ErrorList {
		return checkCSINodeUpdate(obj.(*storagev1.CSINode), old.(*storagev1.CSINode))
	},
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

// K-NODE-12: an entry of a driver may come and go, but only its allocatable count
// may change.
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
