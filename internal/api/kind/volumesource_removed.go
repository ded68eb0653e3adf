package kind

import (
	"net"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
)

// removedSource checks the sources of in-tree plugins without a replacement.
func removedSource(at *field.Path, source *corev1.PersistentVolumeSource) field.ErrorList {
	switch {
	case source.PhotonPersistentDisk != nil:
		return mandatory(at.Child("pdID"), source.PhotonPersistentDisk.PdID)
	case source.ScaleIO != nil:
		errs := mandatory(at.Child("gateway"), source.ScaleIO.Gateway)
		errs = append(errs, mandatory(at.Child("system"), source.ScaleIO.System)...)
		return append(errs, mandatory(at.Child("volumeName"), source.ScaleIO.VolumeName)...)
	case source.Quobyte != nil:
		return append(quobyteRegistry(at, source.Quobyte), mandatory(at.Child("volume"), source.Quobyte.Volume)...)
	case source.Flocker != nil:
		return flocker(at, source.Flocker)
	case source.StorageOS != nil:
		return storageOS(at, source.StorageOS)
	}
	return nil
}

func quobyteRegistry(at *field.Path, quobyte *corev1.QuobyteVolumeSource) (errs field.ErrorList) {
	const rule, longestTenant = "must be a host:port pair or multiple pairs separated by commas", 64
	switch {
	case quobyte.Registry == "":
		return field.ErrorList{field.Required(at.Child("registry"), rule)}
	case len(quobyte.Tenant) > longestTenant:
		return field.ErrorList{field.Required(at.Child("tenant"), "must be a UUID and may not exceed a length of 64 characters")}
	}
	for _, pair := range strings.Split(quobyte.Registry, ",") {
		if _, _, err := net.SplitHostPort(pair); err != nil {
			errs = append(errs, field.Invalid(at.Child("registry"), quobyte.Registry, rule))
		}
	}
	return errs
}

func flocker(at *field.Path, f *corev1.FlockerVolumeSource) (errs field.ErrorList) {
	switch {
	case f.DatasetName == "" && f.DatasetUUID == "":
		errs = append(errs, field.Required(at, "one of datasetName and datasetUUID is required"))
	case f.DatasetName != "" && f.DatasetUUID != "":
		errs = append(errs, field.Invalid(at, "resource", "datasetName and datasetUUID can not be specified simultaneously"))
	}
	if strings.Contains(f.DatasetName, "/") {
		errs = append(errs, field.Invalid(at.Child("datasetName"), f.DatasetName, "must not contain '/'"))
	}
	return errs
}

func storageOS(at *field.Path, s *corev1.StorageOSPersistentVolumeSource) field.ErrorList {
	errs := mandatory(at.Child("volumeName"), s.VolumeName)
	if s.VolumeName != "" {
		errs = append(errs, invalid(at.Child("volumeName"), s.VolumeName, objectname.Label(s.VolumeName))...)
	}
	if s.VolumeNamespace != "" {
		errs = append(errs, invalid(at.Child("volumeNamespace"), s.VolumeNamespace, objectname.Label(s.VolumeNamespace))...)
	}
	if ref := s.SecretRef; ref != nil {
		errs = append(errs, mandatory(at.Child("secretRef", "name"), ref.Name)...)
		errs = append(errs, mandatory(at.Child("secretRef", "namespace"), ref.Namespace)...)
	}
	return errs
}
