package kind

import (
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/diff"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

func init() {
	register(Kind{
		Version: "v1", Name: "PersistentVolumeClaim",
		ShortNames: []string{"pvc"},
		traits:     withStatus, rules: claimRules,
		Columns: claimColumns,
		Warnings: fromBoth(func(pvc, _ *corev1.PersistentVolumeClaim) []string {
			return append(annotationWarnings(pvc.Annotations, corev1.BetaStorageClassAnnotation), sizeWarnings(field.NewPath("spec"), &pvc.Spec)...)
		}),
		AnswersDeleted: true,
	})
}

const (
	// ClaimsByVolume finds claims by spec.volumeName.
	ClaimsByVolume store.Index = "claims by volume"
	// ClaimsByClass finds claims by spec.storageClassName; a missing name counts as "".
	ClaimsByClass store.Index = "claims by class"
)

var claimRules = rules[*corev1.PersistentVolumeClaim]{
	copyPart: store.CopyOf(func(o *corev1.PersistentVolumeClaim) (*corev1.PersistentVolumeClaimSpec, *corev1.PersistentVolumeClaimStatus) {
		return &o.Spec, &o.Status
	}),
	share: func(s *store.Shared, pvc *corev1.PersistentVolumeClaim, _ bool) {
		s.Text(&pvc.Annotations)
		store.ShareSizes(s, &pvc.Spec.Resources.Requests)
		store.ShareSizes(s, &pvc.Status.Capacity)
	},
	fill:  fillClaim,
	admit: admitClaim,
	begin: func(a admission, obj, old *corev1.PersistentVolumeClaim) error {
		settleDataSource(&obj.Spec, &old.Spec, a.keepsElsewhere())
		return nil
	},
	admitUpdate: admitExpansion,
	validate: func(obj *corev1.PersistentVolumeClaim) field.ErrorList {
		return checkClaim(&obj.Spec, field.NewPath("spec"))
	},
	validateUpdate:   checkClaimUpdate,
	validateStatus:   checkClaimStatus,
	passes:           []store.Pass{store.PassMetadata, store.PassObject, store.PassChange},
	readsAnnotations: true,
	quota:            &claimQuota,
	limit:            limitClaim,
	indexes: []store.Indexer{
		store.IndexBy(ClaimsByVolume, func(to []string, pvc *corev1.PersistentVolumeClaim) []string {
			if pvc.Spec.VolumeName == "" {
				return to
			}
			return append(to, pvc.Spec.VolumeName)
		}),
		store.IndexBy(ClaimsByClass, func(to []string, pvc *corev1.PersistentVolumeClaim) []string {
			return append(to, classOf(pvc))
		}),
	},
}

func fillClaim(pvc *corev1.PersistentVolumeClaim) {
	setEmpty(&pvc.Status.Phase, corev1.ClaimPending)
	setDefault(&pvc.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
}

func admitClaim(a admission, pvc *corev1.PersistentVolumeClaim) error {
	settleDataSource(&pvc.Spec, nil, a.keepsElsewhere())
	pvc.Finalizers = withFinalizer(pvc.Finalizers, "kubernetes.io/pvc-protection")
	_, annotated := pvc.Annotations[corev1.BetaStorageClassAnnotation]
	if pvc.Spec.StorageClassName != nil || annotated {
		return nil
	}
	class, all := defaultClass(a.cluster)
	if all > 1 && !a.options.has(version.NewestDefaultClass) { // C-PV-39
		return apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), pvc.Name,
			apierrors.NewInternalError(fmt.Errorf("%d default StorageClasses were found", all)))
	}
	if class != nil {
		pvc.Spec.StorageClassName = &class.Name
	}
	return nil
}

// defaultClass returns the newest class that is annotated as the default one, and the number of
// such classes. Of equally new classes the first by name counts.
func defaultClass(cluster store.Reader) (newest *storagev1.StorageClass, all int) {
	for class := range store.List[*storagev1.StorageClass](cluster, "") {
		isDefault := class.Annotations["storageclass.kubernetes.io/is-default-class"] == "true" ||
			class.Annotations["storageclass.beta.kubernetes.io/is-default-class"] == "true"
		if !isDefault {
			continue
		}
		all++
		if newest == nil || newest.CreationTimestamp.Before(&class.CreationTimestamp) {
			newest = class
		}
	}
	return newest, all
}

// withFinalizer appends a finalizer that is not yet there.
func withFinalizer(finalizers []string, name string) []string {
	if slices.Contains(finalizers, name) {
		return finalizers
	}
	return append(slices.Clip(finalizers), name)
}

// classOf returns the name of the claim's class, which older clients set by an annotation; "" for
// none.
func classOf(pvc *corev1.PersistentVolumeClaim) string {
	if name, ok := pvc.Annotations[corev1.BetaStorageClassAnnotation]; ok {
		return name
	}
	if pvc.Spec.StorageClassName == nil {
		return ""
	}
	return *pvc.Spec.StorageClassName
}

// keepsElsewhere reports whether claims keep a dataSourceRef to another namespace.
func (a admission) keepsElsewhere() bool {
	return a.options.features.Enabled(feature.CrossNamespaceVolumeDataSource)
}

// settleDataSource drops a dataSource that is neither a claim nor a snapshot. It also drops a
// dataSourceRef to another namespace, unless the feature gate CrossNamespaceVolumeDataSource
// (alpha, off) keeps it. Then it copies dataSource to a missing dataSourceRef, or the reverse.
func settleDataSource(spec, old *corev1.PersistentVolumeClaimSpec, keepElsewhere bool) {
	refInUse := old != nil && old.DataSourceRef != nil
	if !refInUse && !keepElsewhere && isElsewhere(spec.DataSourceRef) {
		spec.DataSourceRef = nil
	}
	inUse := refInUse || old != nil && old.DataSource != nil
	if !inUse && spec.DataSourceRef == nil && !isClaimOrSnapshot(spec.DataSource) {
		spec.DataSource = nil
	}
	switch from, ref := spec.DataSource, spec.DataSourceRef; {
	case isElsewhere(ref):
	case from != nil && ref == nil:
		spec.DataSourceRef = &corev1.TypedObjectReference{APIGroup: from.APIGroup, Kind: from.Kind, Name: from.Name}
	case from == nil && ref != nil:
		spec.DataSource = &corev1.TypedLocalObjectReference{APIGroup: ref.APIGroup, Kind: ref.Kind, Name: ref.Name}
	}
}

func isElsewhere(ref *corev1.TypedObjectReference) bool {
	return ref != nil && ref.Namespace != nil && *ref.Namespace != ""
}

func isClaimOrSnapshot(from *corev1.TypedLocalObjectReference) bool {
	if from == nil {
		return false
	}
	group := ""
	if from.APIGroup != nil {
		group = *from.APIGroup
	}
	return from.Kind == "PersistentVolumeClaim" && group == "" ||
		from.Kind == "VolumeSnapshot" && group == "snapshot.storage.k8s.io"
}

func checkClaim(spec *corev1.PersistentVolumeClaimSpec, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(spec.AccessModes) == 0 {
		errs = append(errs, field.Required(path.Child("accessModes"), "at least 1 access mode is required"))
	}
	errs = append(errs, checkSelector(spec.Selector, path.Child("selector"))...)
	errs = append(errs, accessModes(path.Child("accessModes"), spec.AccessModes)...)
	size, ok := spec.Resources.Requests[corev1.ResourceStorage]
	switch {
	case !ok:
		errs = append(errs, field.Required(path.Child("resources").Key("storage"), ""))
	case size.Sign() <= 0:
		errs = append(errs, field.Invalid(path.Child("resources").Key("storage"), size.String(), "must be greater than zero"))
	}
	if class := spec.StorageClassName; class != nil && *class != "" {
		errs = append(errs, subdomain(path.Child("storageClassName"), *class)...)
	}
	errs = append(errs, volumeMode(path.Child("volumeMode"), *spec.VolumeMode)...)
	errs = append(errs, dataSources(path, spec)...)
	if class := spec.VolumeAttributesClassName; class != nil && *class != "" {
		errs = append(errs, subdomain(path.Child("volumeAttributesClassName"), *class)...)
	}
	return errs
}

func dataSources(path *field.Path, spec *corev1.PersistentVolumeClaimSpec) field.ErrorList {
	var errs field.ErrorList
	from, ref := spec.DataSource, spec.DataSourceRef
	if from != nil {
		errs = append(errs, dataSource(path.Child("dataSource"), from.APIGroup, from.Kind, from.Name)...)
	}
	if ref == nil {
		return errs
	}
	errs = append(errs, dataSource(path.Child("dataSourceRef"), ref.APIGroup, ref.Kind, ref.Name)...)
	if isElsewhere(ref) {
		errs = append(errs, invalid(path.Child("dataSourceRef", "namespace"), *ref.Namespace, utilvalidation.IsDNS1123Label(*ref.Namespace))...)
	}
	if from == nil {
		return errs
	}
	switch same := from.Kind == ref.Kind && from.Name == ref.Name && equality.Semantic.DeepEqual(from.APIGroup, ref.APIGroup); {
	case isElsewhere(ref):
		errs = append(errs, field.Invalid(path, path.Child("dataSource"), "may not be specified when dataSourceRef.namespace is specified"))
	case !same:
		errs = append(errs, field.Invalid(path, path.Child("dataSource"), "must match dataSourceRef"))
	}
	return errs
}

func dataSource(path *field.Path, group *string, kind, name string) field.ErrorList {
	var errs field.ErrorList
	if name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	if kind == "" {
		errs = append(errs, field.Required(path.Child("kind"), ""))
	}
	if group == nil || *group == "" {
		if kind != "PersistentVolumeClaim" {
			errs = append(errs, field.Invalid(path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"))
		}
		return errs
	}
	return append(errs, invalid(path.Child("apiGroup"), *group, utilvalidation.IsDNS1123Subdomain(*group))...)
}

// checkClaimUpdate permits three kinds of changes: binding (volumeName once, a class for a claim
// without one), expansion and modification.
func checkClaimUpdate(now, was *corev1.PersistentVolumeClaim) field.ErrorList {
	var errs field.ErrorList
	const class = corev1.BetaStorageClassAnnotation
	if now.Annotations[class] == was.Annotations[class] && store.Same(&now.Spec, &was.Spec) {
		return nil
	}
	spec, before := now.Spec.DeepCopy(), was.Spec.DeepCopy()
	if before.VolumeName == "" {
		before.VolumeName = spec.VolumeName
	}
	errs = append(errs, classChange(now, was, spec, before)...)
	if now.Status.Phase == corev1.ClaimBound {
		spec.VolumeAttributesClassName = before.VolumeAttributesClassName
		if spec.Resources.Requests != nil {
			spec.Resources.Requests[corev1.ResourceStorage] = before.Resources.Requests[corev1.ResourceStorage]
		}
	}
	if !store.Same(spec, before) && !equality.Semantic.DeepEqual(spec, before) {
		errs = append(errs, field.Forbidden(field.NewPath("spec"),
			fmt.Sprintf("spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims\n%s", diff.Diff(goNames{*before}, goNames{*spec}))))
	}
	errs = append(errs, checkShrink(now, was)...)
	errs = append(errs, immutable(field.NewPath("volumeMode"), now.Spec.VolumeMode, was.Spec.VolumeMode)...)
	return append(errs, checkAttributesRemoval(now, was)...)
}

// classChange permits a claim without a class to get a class. It permits a claim with the class in
// an annotation to set the field. It removes the permitted changes from spec, so that a comparison
// of the specs ignores them.
func classChange(now, was *corev1.PersistentVolumeClaim, spec, before *corev1.PersistentVolumeClaimSpec) field.ErrorList {
	old, annotated := was.Annotations[corev1.BetaStorageClassAnnotation]
	class, kept := now.Annotations[corev1.BetaStorageClassAnnotation]
	unset := before.StorageClassName == nil && spec.StorageClassName != nil
	named := unset && annotated && *spec.StorageClassName == old
	if unset && (!annotated || named) {
		spec.StorageClassName = nil
	}
	if class == old || named && !kept {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata", "annotations", corev1.BetaStorageClassAnnotation), class, "field is immutable")}
}

// checkShrink permits a smaller request after a failed expansion, if it is above the actual size of
// the volume.
func checkShrink(now, was *corev1.PersistentVolumeClaim) field.ErrorList {
	size, before := now.Spec.Resources.Requests.Storage(), was.Spec.Resources.Requests.Storage()
	if size.Cmp(*before) >= 0 || size.Cmp(*was.Status.Capacity.Storage()) > 0 {
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("spec", "resources", "requests", "storage"), "field can not be less than status.capacity")}
}

func checkAttributesRemoval(now, was *corev1.PersistentVolumeClaim) field.ErrorList {
	path, class := field.NewPath("spec", "volumeAttributesClassName"), now.Spec.VolumeAttributesClassName
	if was.Status.CurrentVolumeAttributesClassName == nil || equality.Semantic.DeepEqual(class, was.Spec.VolumeAttributesClassName) {
		return nil
	}
	const rule = " is forbidden when status.currentVolumeAttributesClassName is not nil"
	switch {
	case class == nil:
		return field.ErrorList{field.Forbidden(path, "update to nil"+rule)}
	case *class == "":
		return field.ErrorList{field.Forbidden(path, "update to empty string"+rule)}
	}
	return nil
}

// admitExpansion permits a claim to grow only if it is bound and its class allows expansion.
func admitExpansion(cluster store.Reader, now, was *corev1.PersistentVolumeClaim) error {
	if now.Spec.Resources.Requests.Storage().Cmp(*was.Spec.Resources.Requests.Storage()) <= 0 {
		return nil
	}
	refuse := func(why string) error {
		return apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), now.Name, errors.New(why))
	}
	if was.Status.Phase != corev1.ClaimBound {
		return refuse("Only bound persistent volume claims can be expanded")
	}
	class, ok := store.Get[*storagev1.StorageClass](cluster, store.Key{Name: classOf(now)})
	if !ok || classOf(now) != classOf(was) || class.AllowVolumeExpansion == nil || !*class.AllowVolumeExpansion {
		return refuse("only dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must support resize")
	}
	return nil
}
