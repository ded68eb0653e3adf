package kind

import (
	"fmt"
	"path"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/diff"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
)

func init() {
	register(Kind{
		Version: "v1", Name: "PersistentVolume",
		ShortNames: []string{"pv"},
		traits:     clusterScoped | withStatus, rules: volumeRules,
		Columns:        volumeColumns,
		Warnings:       fromBoth(func(pv, _ *corev1.PersistentVolume) []string { return volumeWarnings(pv) }),
		AnswersDeleted: true,
	})
}

const (
	// VolumesByClaim finds persistent volumes by the "namespace/name" of claimRef.
	VolumesByClaim store.Index = "volumes by claim"
	// VolumesByHandle finds CSI persistent volumes by "driver^handle".
	VolumesByHandle store.Index = "volumes by handle"
	// UnboundVolumesByClass finds persistent volumes without a claimRef by their class, which may
	// be empty. The old annotation takes precedence over spec.storageClassName.
	UnboundVolumesByClass store.Index = "unbound volumes by class"
)

var volumeRules = rules[*corev1.PersistentVolume]{
	copyPart: store.CopyOf(func(o *corev1.PersistentVolume) (*corev1.PersistentVolumeSpec, *corev1.PersistentVolumeStatus) {
		return &o.Spec, &o.Status
	}),
	share: func(s *store.Shared, pv *corev1.PersistentVolume, isNew bool) {
		s.Text(&pv.Annotations)
		store.ShareSizes(s, &pv.Spec.Capacity)
		if isNew && pv.Spec.CSI != nil {
			s.Text(&pv.Spec.CSI.VolumeAttributes)
		}
	},
	fill:           fillVolume,
	admit:          admitVolume,
	prepareStatus:  stampPhase,
	validate:       checkVolume,
	validateUpdate: checkVolumeUpdate,
	passes:         []store.Pass{store.PassObject, store.PassObject, store.PassChange},
	indexes: []store.Indexer{
		store.IndexBy(VolumesByClaim, func(to []string, pv *corev1.PersistentVolume) []string {
			if pv.Spec.ClaimRef == nil {
				return to
			}
			return append(to, pv.Spec.ClaimRef.Namespace+"/"+pv.Spec.ClaimRef.Name)
		}),
		store.IndexBy(VolumesByHandle, func(to []string, pv *corev1.PersistentVolume) []string {
			if pv.Spec.CSI == nil {
				return to
			}
			return append(to, pv.Spec.CSI.Driver+"^"+pv.Spec.CSI.VolumeHandle)
		}),
		store.IndexBy(UnboundVolumesByClass, func(to []string, pv *corev1.PersistentVolume) []string {
			if pv.Spec.ClaimRef != nil {
				return to
			}
			if class, ok := pv.Annotations[corev1.BetaStorageClassAnnotation]; ok { // C-PV-7
				return append(to, class)
			}
			return append(to, pv.Spec.StorageClassName)
		}),
	},
}

func fillVolume(pv *corev1.PersistentVolume) {
	setEmpty(&pv.Status.Phase, corev1.VolumePending)
	setEmpty(&pv.Spec.PersistentVolumeReclaimPolicy, corev1.PersistentVolumeReclaimRetain)
	setDefault(&pv.Spec.VolumeMode, corev1.PersistentVolumeFilesystem)
	fillSource(&pv.Spec.PersistentVolumeSource)
}

func admitVolume(a admission, pv *corev1.PersistentVolume) error {
	// a copy: admission must not share the pointer.
	if a.options.has(version.PhaseTransitionTime) {
		pv.Status.LastPhaseTransitionTime = a.now.DeepCopy()
	}
	pv.Finalizers = withFinalizer(pv.Finalizers, "kubernetes.io/pv-protection")
	return nil
}

// stampPhase sets the time of a phase's change unless the client did.
func stampPhase(now metav1.Time, obj, old *corev1.PersistentVolume) {
	status, was := &obj.Status, &old.Status
	at := status.LastPhaseTransitionTime
	switch {
	case status.Phase == was.Phase && at == nil:
		status.LastPhaseTransitionTime = was.LastPhaseTransitionTime
	case status.Phase != was.Phase && (at == nil || at.Equal(was.LastPhaseTransitionTime)):
		status.LastPhaseTransitionTime = &now
	}
}

func checkVolume(pv *corev1.PersistentVolume) field.ErrorList {
	spec, path := &pv.Spec, field.NewPath("spec")
	errs := volumeAccess(path, spec.AccessModes)
	errs = append(errs, volumeCapacity(path.Child("capacity"), spec.Capacity)...)
	errs = append(errs, oneOf(path.Child("persistentVolumeReclaimPolicy"), spec.PersistentVolumeReclaimPolicy,
		corev1.PersistentVolumeReclaimDelete, corev1.PersistentVolumeReclaimRecycle, corev1.PersistentVolumeReclaimRetain)...)
	errs = append(errs, volumeAffinity(path.Child("nodeAffinity"), spec.NodeAffinity)...)
	errs = append(errs, volumeSource(path, spec, pv.Name)...)
	if spec.StorageClassName != "" {
		errs = append(errs, subdomain(path.Child("storageClassName"), spec.StorageClassName)...)
	}
	errs = append(errs, volumeMode(path.Child("volumeMode"), *spec.VolumeMode)...)
	errs = append(errs, volumeAttributesClass(path, spec)...)
	if _, annotated := pv.Annotations[corev1.MountOptionAnnotation]; annotated && !takesMountOptions(&spec.PersistentVolumeSource) {
		errs = append(errs, field.Forbidden(metadataPath.Child("annotations", corev1.MountOptionAnnotation), "may not specify mount options for this volume type"))
	}
	return errs
}

// takesMountOptions reports whether the annotation that preceded spec.mountOptions is allowed.
func takesMountOptions(s *corev1.PersistentVolumeSource) bool {
	return s.GCEPersistentDisk != nil || s.AWSElasticBlockStore != nil || s.Glusterfs != nil || s.NFS != nil || s.RBD != nil || s.Quobyte != nil ||
		s.ISCSI != nil || s.Cinder != nil || s.CephFS != nil || s.AzureFile != nil || s.VsphereVolume != nil || s.AzureDisk != nil || s.PhotonPersistentDisk != nil
}

// checkInlineVolume checks an inline volume of an attachment.
func checkInlineVolume(path *field.Path, spec *corev1.PersistentVolumeSpec) (errs field.ErrorList) {
	const context = "may not be specified in the context of inline volumes"
	refuse := func(name string, given bool) {
		if given {
			errs = append(errs, field.Forbidden(path.Child(name), context))
		}
	}
	refuse("claimRef", spec.ClaimRef != nil)
	refuse("capacity", len(spec.Capacity) > 0)
	if spec.CSI == nil {
		errs = append(errs, field.Required(path.Child("csi"), "has to be specified in the context of inline volumes"))
	}
	errs = append(errs, volumeAccess(path, spec.AccessModes)...)
	if policy := spec.PersistentVolumeReclaimPolicy; policy != "" && policy != corev1.PersistentVolumeReclaimRetain {
		errs = append(errs, field.Forbidden(path.Child("persistentVolumeReclaimPolicy"), "may only be Retain in the context of inline volumes"))
	}
	refuse("nodeAffinity", spec.NodeAffinity != nil)
	errs = append(errs, volumeSource(path, spec, "")...)
	refuse("storageClassName", spec.StorageClassName != "")
	if mode := spec.VolumeMode; mode != nil && *mode != corev1.PersistentVolumeFilesystem {
		errs = append(errs, field.Forbidden(path.Child("volumeMode"), "may not specify volumeMode other than Filesystem in the context of inline volumes"))
	}
	return errs
}

func volumeAccess(path *field.Path, modes []corev1.PersistentVolumeAccessMode) (errs field.ErrorList) {
	if len(modes) == 0 {
		errs = append(errs, field.Required(path.Child("accessModes"), ""))
	}
	return append(errs, accessModes(path.Child("accessModes"), modes)...)
}

func accessModes(path *field.Path, modes []corev1.PersistentVolumeAccessMode) field.ErrorList {
	var errs field.ErrorList
	exclusive, shared := false, false
	for _, mode := range modes {
		unsupported := oneOf(path, mode, corev1.ReadOnlyMany, corev1.ReadWriteMany, corev1.ReadWriteOnce, corev1.ReadWriteOncePod)
		errs = append(errs, unsupported...)
		exclusive = exclusive || mode == corev1.ReadWriteOncePod
		shared = shared || mode != corev1.ReadWriteOncePod && len(unsupported) == 0
	}
	if exclusive && shared {
		errs = append(errs, field.Forbidden(path, "may not use ReadWriteOncePod with other access modes"))
	}
	return errs
}

func volumeMode(path *field.Path, mode corev1.PersistentVolumeMode) field.ErrorList {
	return oneOf(path, mode, corev1.PersistentVolumeBlock, corev1.PersistentVolumeFilesystem)
}

func volumeCapacity(path *field.Path, capacity corev1.ResourceList) field.ErrorList {
	var errs field.ErrorList
	if len(capacity) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	if _, ok := capacity[corev1.ResourceStorage]; !ok || len(capacity) > 1 {
		errs = append(errs, field.NotSupported(path, capacity, []corev1.ResourceName{corev1.ResourceStorage}))
	}
	for _, name := range sortedKeys(capacity) {
		size := capacity[name]
		if size.Sign() <= 0 {
			errs = append(errs, notNegative(path.Key(string(name)), size)...)
			errs = append(errs, positive(path.Key(string(name)), size)...)
		}
	}
	return errs
}

func notNegative(path *field.Path, quantity resource.Quantity) field.ErrorList {
	if quantity.Value() >= 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, quantity.Value(), "must be a valid resource quantity")}
}

func positive(path *field.Path, quantity resource.Quantity) field.ErrorList {
	if quantity.Sign() > 0 {
		return nil
	}
	return field.ErrorList{field.Invalid(path, quantity.String(), "must be greater than zero")}
}

// sourceNames are the real server's names of sources in errors: the name of the checked source, and
// the name of a superfluous one.
var sourceNames = map[string][2]string{"gcePersistentDisk": {"persistentDisk", "gcePersistentDisk"}, "cephfs": {"cephfs", "cephFS"}}

// volumeSource checks that a volume has exactly one source, and checks this source.
func volumeSource(at *field.Path, spec *corev1.PersistentVolumeSpec, name string) field.ErrorList {
	sources := volumeSources.of(&spec.PersistentVolumeSource)
	if len(sources) == 0 {
		return field.ErrorList{field.Required(at, "must specify a volume type")}
	}
	var errs field.ErrorList
	for i, source := range sources {
		shown := source
		if otherName, ok := sourceNames[source]; ok {
			shown = otherName[min(i, 1)]
		}
		switch {
		case i > 0 && source != "flexVolume":
			errs = append(errs, field.Forbidden(at.Child(shown), "may not specify more than 1 volume type"))
		default:
			only := corev1.PersistentVolumeSource{}
			volumeSources.copy(&only, &spec.PersistentVolumeSource, source)
			errs = append(errs, checkSource(at.Child(shown), &only, name)...)
		}
		if i == 0 && source == "local" && spec.NodeAffinity == nil {
			errs = append(errs, field.Required(at.Child("nodeAffinity"), "Local volume requires node affinity"))
		}
	}
	if spec.HostPath != nil && path.Clean(spec.HostPath.Path) == "/" && spec.PersistentVolumeReclaimPolicy == corev1.PersistentVolumeReclaimRecycle {
		errs = append(errs, field.Forbidden(at.Child("persistentVolumeReclaimPolicy"), "may not be 'recycle' for a hostPath mount of '/'"))
	}
	return errs
}

func csiSource(path *field.Path, csi *corev1.CSIPersistentVolumeSource) field.ErrorList {
	errs := driverName(path.Child("driver"), csi.Driver)
	if csi.VolumeHandle == "" {
		errs = append(errs, field.Required(path.Child("volumeHandle"), ""))
	}
	secrets := []struct {
		name string
		ref  *corev1.SecretReference
	}{
		{"controllerPublishSecretRef", csi.ControllerPublishSecretRef},
		{"controllerExpandSecretRef", csi.ControllerExpandSecretRef},
		{"nodePublishSecretRef", csi.NodePublishSecretRef},
		{"nodeExpandSecretRef", csi.NodeExpandSecretRef},
	}
	for _, secret := range secrets {
		if secret.ref != nil {
			errs = append(errs, secretReference(path.Child(secret.name), secret.ref)...)
		}
	}
	return errs
}

func secretReference(path *field.Path, ref *corev1.SecretReference) field.ErrorList {
	var errs field.ErrorList
	if ref.Name == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	} else {
		errs = append(errs, subdomain(path.Child("name"), ref.Name)...)
	}
	if ref.Namespace == "" {
		return append(errs, field.Required(path.Child("namespace"), ""))
	}
	return append(errs, invalid(path.Child("namespace"), ref.Namespace, utilvalidation.IsDNS1123Label(ref.Namespace))...)
}

func volumeAttributesClass(path *field.Path, spec *corev1.PersistentVolumeSpec) field.ErrorList {
	name := spec.VolumeAttributesClassName
	if name == nil {
		return nil
	}
	var errs field.ErrorList
	if *name == "" {
		errs = append(errs, field.Required(path.Child("volumeAttributesClassName"), "an empty string is disallowed"))
	} else {
		errs = append(errs, subdomain(path.Child("volumeAttributesClassName"), *name)...)
	}
	if spec.CSI == nil {
		errs = append(errs, field.Required(path.Child("csi"), "has to be specified when using volumeAttributesClassName"))
	}
	return errs
}

func checkVolumeUpdate(now, was *corev1.PersistentVolume) field.ErrorList {
	var errs field.ErrorList
	source := now.Spec.PersistentVolumeSource.DeepCopy()
	if source.CSI != nil && was.Spec.CSI != nil && was.Spec.CSI.ControllerExpandSecretRef == nil {
		source.CSI.ControllerExpandSecretRef = nil // it may be added later
	}
	if !equality.Semantic.DeepEqual(*source, was.Spec.PersistentVolumeSource) {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "persistentvolumesource"),
			fmt.Sprintf("spec.persistentvolumesource is immutable after creation\n%s", diff.Diff(goNames{was.Spec.PersistentVolumeSource}, goNames{*source}))))
	}
	errs = append(errs, immutable(field.NewPath("volumeMode"), now.Spec.VolumeMode, was.Spec.VolumeMode)...)
	if was.Spec.NodeAffinity != nil && !equality.Semantic.DeepEqual(now.Spec.NodeAffinity, was.Spec.NodeAffinity) {
		errs = append(errs, field.Invalid(field.NewPath("nodeAffinity"), goNames{now.Spec.NodeAffinity}, "field is immutable, except for updating from beta label to GA"))
	}
	if was.Spec.VolumeAttributesClassName != nil && now.Spec.VolumeAttributesClassName == nil {
		errs = append(errs, field.Forbidden(field.NewPath("spec", "volumeAttributesClassName"), "update from non-nil value to nil is forbidden"))
	}
	return errs
}
