package kind

import (
	"path"
	"strings"

	corev1 "k8s.io/api/core/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// fillSource sets the defaults of a volume's source.
func fillSource(source *corev1.PersistentVolumeSource) {
	switch {
	case source.HostPath != nil:
		setDefault(&source.HostPath.Type, corev1.HostPathUnset)
	case source.ISCSI != nil:
		setEmpty(&source.ISCSI.ISCSIInterface, "default")
	case source.RBD != nil:
		fillRBD(&source.RBD.RBDPool, &source.RBD.RadosUser, &source.RBD.Keyring)
	case source.AzureDisk != nil:
		fillAzureDisk(source.AzureDisk)
	case source.ScaleIO != nil:
		fillScaleIO(&source.ScaleIO.StorageMode, &source.ScaleIO.FSType)
	}
}

func fillRBD(pool, user, keyring *string) {
	setEmpty(pool, "rbd")
	setEmpty(user, "admin")
	setEmpty(keyring, "/etc/ceph/keyring")
}

func fillAzureDisk(disk *corev1.AzureDiskVolumeSource) {
	setDefault(&disk.CachingMode, corev1.AzureDataDiskCachingReadWrite)
	setDefault(&disk.Kind, corev1.AzureSharedBlobDisk)
	setDefault(&disk.FSType, "ext4")
	setDefault(&disk.ReadOnly, false)
}

func fillScaleIO(mode, fsType *string) {
	setEmpty(mode, "ThinProvisioned")
	setEmpty(fsType, "xfs")
}

// checkSource checks the first source of the volume with that name.
func checkSource(at *field.Path, source *corev1.PersistentVolumeSource, volume string) field.ErrorList {
	switch {
	case source.HostPath != nil:
		return hostPath(at, source.HostPath)
	case source.NFS != nil:
		return nfs(at, source.NFS)
	case source.ISCSI != nil:
		return iscsi(at, source.ISCSI, volume)
	case source.Local != nil:
		return pathBelow(at.Child("path"), source.Local.Path)
	case source.CSI != nil:
		return csiSource(at, source.CSI)
	}
	return inTreeSource(at, source)
}

// inTreeSource checks the sources of in-tree plugins that CSI drivers have replaced.
func inTreeSource(at *field.Path, source *corev1.PersistentVolumeSource) (errs field.ErrorList) {
	switch {
	case source.GCEPersistentDisk != nil:
		return append(mandatory(at.Child("pdName"), source.GCEPersistentDisk.PDName), partition(at, source.GCEPersistentDisk.Partition)...)
	case source.AWSElasticBlockStore != nil:
		return append(mandatory(at.Child("volumeID"), source.AWSElasticBlockStore.VolumeID), partition(at, source.AWSElasticBlockStore.Partition)...)
	case source.Glusterfs != nil:
		errs = append(mandatory(at.Child("endpoints"), source.Glusterfs.EndpointsName), mandatory(at.Child("path"), source.Glusterfs.Path)...)
		switch namespace := source.Glusterfs.EndpointsNamespace; {
		case namespace == nil:
		case *namespace == "":
			errs = append(errs, field.Invalid(at.Child("endpointsNamespace"), "", "if the endpointnamespace is set, it must be a valid namespace name"))
		default:
			errs = append(errs, invalid(at.Child("endpointsNamespace"), *namespace, utilvalidation.IsDNS1123Label(*namespace))...)
		}
		return errs
	case source.RBD != nil:
		return append(atLeastOne(at.Child("monitors"), source.RBD.CephMonitors), mandatory(at.Child("image"), source.RBD.RBDImage)...)
	case source.CephFS != nil:
		return atLeastOne(at.Child("monitors"), source.CephFS.Monitors)
	case source.Cinder != nil:
		errs = mandatory(at.Child("volumeID"), source.Cinder.VolumeID)
		if ref := source.Cinder.SecretRef; ref != nil {
			errs = append(errs, mandatory(at.Child("secretRef", "name"), ref.Name)...)
			errs = append(errs, mandatory(at.Child("secretRef", "namespace"), ref.Namespace)...)
		}
		return errs
	case source.FC != nil:
		return fibreChannel(at, source.FC)
	case source.FlexVolume != nil:
		return flexVolume(at, source.FlexVolume)
	case source.AzureFile != nil:
		errs = append(mandatory(at.Child("secretName"), source.AzureFile.SecretName), mandatory(at.Child("shareName"), source.AzureFile.ShareName)...)
		if namespace := source.AzureFile.SecretNamespace; namespace != nil {
			errs = append(errs, mandatory(at.Child("secretNamespace"), *namespace)...)
		}
		return errs
	case source.AzureDisk != nil:
		return azureDisk(at, source.AzureDisk)
	case source.VsphereVolume != nil:
		return mandatory(at.Child("volumePath"), source.VsphereVolume.VolumePath)
	case source.PortworxVolume != nil:
		return mandatory(at.Child("volumeID"), source.PortworxVolume.VolumeID)
	}
	return removedSource(at, source)
}

func atLeastOne(path *field.Path, values []string) field.ErrorList {
	if len(values) == 0 {
		return field.ErrorList{field.Required(path, "")}
	}
	return nil
}

func partition(at *field.Path, n int32) field.ErrorList {
	if n >= 0 && n <= 255 {
		return nil
	}
	return field.ErrorList{field.Invalid(at.Child("partition"), n, utilvalidation.InclusiveRangeError(1, 255))}
}

// pathBelow checks a required path without "..".
func pathBelow(at *field.Path, path string) field.ErrorList {
	switch {
	case path == "":
		return field.ErrorList{field.Required(at, "")}
	case climbs(path):
		return field.ErrorList{field.Invalid(at, path, "must not contain '..'")}
	}
	return nil
}

func hostPath(at *field.Path, source *corev1.HostPathVolumeSource) field.ErrorList {
	errs := pathBelow(at.Child("path"), source.Path)
	if source.Path == "" || source.Type == nil {
		return errs
	}
	return append(errs, oneOf(at.Child("type"), *source.Type, corev1.HostPathUnset, corev1.HostPathBlockDev, corev1.HostPathCharDev, corev1.HostPathDirectory,
		corev1.HostPathDirectoryOrCreate, corev1.HostPathFile, corev1.HostPathFileOrCreate, corev1.HostPathSocket)...)
}

func nfs(at *field.Path, source *corev1.NFSVolumeSource) field.ErrorList {
	errs := append(mandatory(at.Child("server"), source.Server), mandatory(at.Child("path"), source.Path)...)
	if !path.IsAbs(source.Path) {
		errs = append(errs, field.Invalid(at.Child("path"), source.Path, "must be an absolute path"))
	}
	return errs
}

var iscsiName = lazyregexp.New(`^(iqn\.\d{4}-\d{2}\.([[:alnum:]-.]+)(:[^,;*&$|\s]+)$|eui\.[[:alnum:]]{16}$|naa\.[[:alnum:]]{32}$)`)

func iscsi(at *field.Path, source *corev1.ISCSIPersistentVolumeSource, volume string) field.ErrorList {
	const (
		wrongForm = "must be valid format"
		tooLong   = "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified."
		longest   = 64
	)
	errs := mandatory(at.Child("targetPortal"), source.TargetPortal)
	if source.InitiatorName != nil && len(volume)+1+len(source.TargetPortal) > longest {
		errs = append(errs, field.Invalid(at.Child("targetportal"), source.TargetPortal, tooLong))
	}
	errs = append(errs, mandatory(at.Child("iqn"), source.IQN)...)
	if source.IQN != "" && !iscsiName().MatchString(source.IQN) {
		errs = append(errs, field.Invalid(at.Child("iqn"), source.IQN, wrongForm))
	}
	if source.Lun < 0 || source.Lun > 255 {
		errs = append(errs, field.Invalid(at.Child("lun"), source.Lun, utilvalidation.InclusiveRangeError(0, 255)))
	}
	switch {
	case source.SecretRef != nil:
		errs = append(errs, mandatory(at.Child("secretRef", "name"), source.SecretRef.Name)...)
	case source.DiscoveryCHAPAuth || source.SessionCHAPAuth:
		errs = append(errs, field.Required(at.Child("secretRef"), ""))
	}
	if name := source.InitiatorName; name != nil && !iscsiName().MatchString(*name) {
		errs = append(errs, field.Invalid(at.Child("initiatorname"), *name, wrongForm))
	}
	return errs
}

func fibreChannel(at *field.Path, source *corev1.FCVolumeSource) (errs field.ErrorList) {
	if len(source.TargetWWNs) == 0 && len(source.WWIDs) == 0 {
		errs = append(errs, field.Required(at.Child("targetWWNs"), "must specify either targetWWNs or wwids, but not both"))
	}
	if len(source.TargetWWNs) > 0 && len(source.WWIDs) > 0 {
		errs = append(errs, field.Invalid(at.Child("targetWWNs"), source.TargetWWNs, "targetWWNs and wwids can not be specified simultaneously"))
	}
	switch lun := source.Lun; {
	case len(source.TargetWWNs) == 0:
	case lun == nil:
		errs = append(errs, field.Required(at.Child("lun"), "lun is required if targetWWNs is specified"))
	case *lun < 0 || *lun > 255:
		errs = append(errs, field.Invalid(at.Child("lun"), *lun, utilvalidation.InclusiveRangeError(0, 255)))
	}
	return errs
}

func flexVolume(at *field.Path, source *corev1.FlexPersistentVolumeSource) field.ErrorList {
	errs := mandatory(at.Child("driver"), source.Driver)
	for _, option := range sortedKeys(source.Options) {
		namespace, _, _ := strings.Cut(option, "/")
		namespace = "." + strings.ToLower(namespace)
		if strings.HasSuffix(namespace, ".kubernetes.io") || strings.HasSuffix(namespace, ".k8s.io") {
			errs = append(errs, field.Invalid(at.Child("options").Key(option), option, "kubernetes.io and k8s.io namespaces are reserved"))
		}
	}
	return errs
}

func azureDisk(at *field.Path, source *corev1.AzureDiskVolumeSource) field.ErrorList {
	errs := append(mandatory(at.Child("diskName"), source.DiskName), mandatory(at.Child("diskURI"), source.DataDiskURI)...)
	errs = append(errs, oneOf(at.Child("cachingMode"), *source.CachingMode,
		corev1.AzureDataDiskCachingNone, corev1.AzureDataDiskCachingReadOnly, corev1.AzureDataDiskCachingReadWrite)...)
	errs = append(errs, oneOf(at.Child("kind"), *source.Kind, corev1.AzureDedicatedBlobDisk, corev1.AzureManagedDisk, corev1.AzureSharedBlobDisk)...)
	begin, form := "https://", "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
	if *source.Kind == corev1.AzureManagedDisk {
		begin, form = "/subscriptions/", "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
	}
	if !strings.HasPrefix(source.DataDiskURI, begin) {
		errs = append(errs, field.NotSupported(at.Child("diskURI"), source.DataDiskURI, []string{form}))
	}
	return errs
}
