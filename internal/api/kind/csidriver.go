package kind

import (
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "storage.k8s.io", Version: "v1", Name: "CSIDriver",
		traits: clusterScoped | conditional, rules: driverRules,
		Columns:        driverColumns,
		Warnings:       fromBoth(driverWarnings),
		AnswersDeleted: true,
	})
}

var driverRules = rules[*storagev1.CSIDriver]{
	fill:           func(obj *storagev1.CSIDriver) { fillDriver(&obj.Spec) },
	validate:       func(obj *storagev1.CSIDriver) field.ErrorList { return checkDriver(&obj.Spec) },
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

// countDriverChanges increments a generation that, unlike other kinds' generations, starts at 0.
func countDriverChanges(now, was *storagev1.CSIDriver) {
	if !store.Same(&now.Spec, &was.Spec) {
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

func checkDriverUpdate(obj, old *storagev1.CSIDriver) field.ErrorList {
	now, was := obj.Spec, old.Spec
	errs := checkDriver(&now)
	errs = append(errs, immutable(field.NewPath("spec", "attachedRequired"), now.AttachRequired, was.AttachRequired)...)
	return append(errs, immutable(field.NewPath("spec", "volumeLifecycleModes"), now.VolumeLifecycleModes, was.VolumeLifecycleModes)...)
}

// driverWarnings warns if tokens are requested for a driver without any way to pass them.
func driverWarnings(driver, old *storagev1.CSIDriver) []string {
	if len(driver.Spec.TokenRequests) == 0 || driver.Spec.ServiceAccountTokenInSecrets != nil {
		return nil
	}
	if old != nil && equality.Semantic.DeepEqual(old.Spec.TokenRequests, driver.Spec.TokenRequests) {
		return nil
	}
	return []string{"spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes"}
}
