package kind

import (
	"fmt"
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

// podVolumeSource checks that a volume of a pod has exactly one source, and checks this source.
func podVolumeSource(at *field.Path, source *corev1.VolumeSource) field.ErrorList {
	sources := podSources.of(source)
	if len(sources) == 0 {
		return field.ErrorList{field.Required(at, "must specify a volume type")}
	}
	errs := checkPodSource(at.Child(sources[0]), source)
	for _, name := range sources[1:] {
		if name == "downwardAPI" {
			name = "downwarAPI" // the real server's spelling
		}
		errs = append(errs, field.Forbidden(at.Child(name), "may not specify more than 1 volume type"))
	}
	return errs
}

func checkPodSource(at *field.Path, source *corev1.VolumeSource) field.ErrorList {
	switch {
	case source.EmptyDir != nil:
		if size := source.EmptyDir.SizeLimit; size != nil && size.Sign() < 0 {
			return field.ErrorList{field.Forbidden(at.Child("sizeLimit"), "SizeLimit field must be a valid resource quantity")}
		}
	case source.HostPath != nil:
		return hostPath(at, source.HostPath)
	case source.Secret != nil:
		return append(mandatory(at.Child("secretName"), source.Secret.SecretName), files(at, source.Secret.DefaultMode, source.Secret.Items)...)
	case source.NFS != nil:
		return nfs(at, source.NFS)
	case source.PersistentVolumeClaim != nil:
		return mandatory(at.Child("claimName"), source.PersistentVolumeClaim.ClaimName)
	case source.DownwardAPI != nil:
		return append(fileMode(at.Child("defaultMode"), source.DownwardAPI.DefaultMode), downward(at, source.DownwardAPI.Items)...)
	case source.ConfigMap != nil:
		return append(mandatory(at.Child("name"), source.ConfigMap.Name), files(at, source.ConfigMap.DefaultMode, source.ConfigMap.Items)...)
	case source.Projected != nil:
		return projected(at, source.Projected)
	case source.CSI != nil:
		return inlineCSI(at, source.CSI)
	case source.Ephemeral != nil:
		return ephemeral(at, source.Ephemeral)
	case source.Image != nil:
		return append(mandatory(at.Child("reference"), source.Image.Reference), pullPolicies(at.Child("pullPolicy"), source.Image.PullPolicy)...)
	}
	return nil
}

func inlineCSI(at *field.Path, csi *corev1.CSIVolumeSource) field.ErrorList {
	errs := driverName(at.Child("driver"), csi.Driver)
	switch ref := csi.NodePublishSecretRef; {
	case ref == nil:
	case ref.Name == "":
		errs = append(errs, field.Required(at.Child("nodePublishSecretRef", "name"), ""))
	default: // the real server omits a step of the path
		errs = append(errs, subdomain(at.Child("name"), ref.Name)...)
	}
	return errs
}

func ephemeral(at *field.Path, source *corev1.EphemeralVolumeSource) field.ErrorList {
	if source.VolumeClaimTemplate == nil {
		return field.ErrorList{field.Required(at.Child("volumeClaimTemplate"), "")}
	}
	template := at.Child("volumeClaimTemplate")
	errs := claimMetadata(&source.VolumeClaimTemplate.ObjectMeta, template.Child("metadata"))
	return append(errs, checkClaim(&source.VolumeClaimTemplate.Spec, template.Child("spec"))...)
}

// claimMetadata rejects metadata other than labels and annotations.
// [pkg/apis/core/validation ValidateTemplateObjectMeta]
func claimMetadata(meta *metav1.ObjectMeta, at *field.Path) field.ErrorList {
	errs := validation.ValidateAnnotations(meta.Annotations, at.Child("annotations"))
	errs = append(errs, checkLabels(meta.Labels, at.Child("labels"))...)
	for _, f := range []struct {
		name  string
		isSet bool
	}{
		{"name", meta.Name != ""}, {"generateName", meta.GenerateName != ""}, {"namespace", meta.Namespace != ""},
		{"selfLink", meta.SelfLink != ""}, //lint:ignore SA1019 the API has it still
		{"uID", meta.UID != ""}, {"resourceVersion", meta.ResourceVersion != ""}, {"generation", meta.Generation != 0},
		{"creationTimestamp", !meta.CreationTimestamp.IsZero()}, {"deletionTimestamp", meta.DeletionTimestamp != nil},
		{"deletionGracePeriodSeconds", meta.DeletionGracePeriodSeconds != nil}, {"ownerReferences", meta.OwnerReferences != nil},
		{"finalizers", meta.Finalizers != nil}, {"managedFields", meta.ManagedFields != nil},
	} {
		if f.isSet {
			errs = append(errs, field.Forbidden(at.Child(f.name), "cannot be set"))
		}
	}
	return errs
}

// claimName checks the name of the claim that a pod creates for a volume, unless another source
// precedes the template.
func claimName(pod string, volume *corev1.Volume, at *field.Path) (errs field.ErrorList) {
	sources := podSources.of(&volume.VolumeSource)
	if len(sources) == 0 || sources[0] != "ephemeral" || pod == "" || volume.Name == "" {
		return nil
	}
	name := pod + "-" + volume.Name
	for _, mistake := range objectname.Subdomain(name, false) {
		errs = append(errs, field.Invalid(at, volume.Name, fmt.Sprintf("PVC name %q: %s", name, mistake)))
	}
	return errs
}

// files checks the files of a secret or a config map in a volume.
func files(at *field.Path, mode *int32, items []corev1.KeyToPath) field.ErrorList {
	errs := fileMode(at.Child("defaultMode"), mode)
	for i, item := range items {
		at := at.Child("items").Index(i)
		errs = append(errs, mandatory(at.Child("key"), item.Key)...)
		errs = append(errs, filePath(at.Child("path"), item.Path)...)
		errs = append(errs, fileMode(at.Child("mode"), item.Mode)...)
	}
	return errs
}

func fileMode(at *field.Path, mode *int32) field.ErrorList {
	if mode == nil || *mode >= 0 && *mode <= 0o777 {
		return nil
	}
	return field.ErrorList{field.Invalid(at, *mode, "must be a number between 0 and 0777 (octal), both inclusive")}
}

// filePath checks the path of a file in a volume.
func filePath(at *field.Path, name string) (errs field.ErrorList) {
	errs = mandatory(at, name)
	if path.IsAbs(name) {
		errs = append(errs, field.Invalid(at, name, "must be a relative path"))
	}
	switch {
	case climbs(name):
		errs = append(errs, field.Invalid(at, name, "must not contain '..'"))
	case strings.HasPrefix(name, ".."):
		errs = append(errs, field.Invalid(at, name, "must not start with '..'"))
	}
	return errs
}

// downward checks the files of a downward API volume.
func downward(at *field.Path, items []corev1.DownwardAPIVolumeFile) (errs field.ErrorList) {
	for _, item := range items {
		errs = append(errs, filePath(at.Child("path"), item.Path)...)
		switch {
		case item.FieldRef != nil:
			errs = append(errs, mandatory(at.Child("fieldRef", "fieldPath"), item.FieldRef.FieldPath)...)
		case item.ResourceFieldRef != nil:
			ref, at := item.ResourceFieldRef, at.Child("resourceFieldRef")
			if ref.ContainerName == "" {
				errs = append(append(errs, field.Required(at.Child("containerName"), "")), resourceUnit(at.Child("divisor"), ref)...)
				break
			}
			errs = append(errs, resourceField(at, ref)...)
		default:
			errs = append(errs, field.Required(at, "one of fieldRef and resourceFieldRef is required"))
		}
		errs = append(errs, fileMode(at.Child("mode"), item.Mode)...)
	}
	return errs
}

func projected(at *field.Path, volume *corev1.ProjectedVolumeSource) field.ErrorList {
	errs := fileMode(at.Child("defaultMode"), volume.DefaultMode)
	for i := range volume.Sources {
		source, at := &volume.Sources[i], at.Child("sources").Index(i)
		switch {
		case source.Secret != nil:
			errs = append(errs, mandatory(at.Child("secret", "name"), source.Secret.Name)...)
			errs = append(errs, files(at.Child("secret"), nil, source.Secret.Items)...)
		case source.ConfigMap != nil:
			errs = append(errs, mandatory(at.Child("configMap", "name"), source.ConfigMap.Name)...)
			errs = append(errs, files(at.Child("configMap"), nil, source.ConfigMap.Items)...)
		case source.DownwardAPI != nil:
			errs = append(errs, downward(at.Child("downwardAPI"), source.DownwardAPI.Items)...)
		}
	}
	for i := range volume.Sources {
		if token := volume.Sources[i].ServiceAccountToken; token != nil {
			errs = append(errs, projectedToken(at, at.Child("sources").Index(i).Child("serviceAccountToken"), token)...)
		}
	}
	return errs
}

func projectedToken(volume, at *field.Path, token *corev1.ServiceAccountTokenProjection) (errs field.ErrorList) {
	if life := token.ExpirationSeconds; life != nil && *life < minTokenLife {
		errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *life, "may not specify a duration less than 10 minutes"))
	}
	if life := token.ExpirationSeconds; life != nil && *life > maxTokenLife {
		errs = append(errs, field.Invalid(at.Child("expirationSeconds"), *life, "may not specify a duration larger than 2^32 seconds"))
	}
	return append(errs, mandatory(volume.Child("path"), token.Path)...)
}
