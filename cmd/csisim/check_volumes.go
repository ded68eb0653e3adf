package main

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// volumeFlags describe the volumes that a check creates and their calls. They extend or replace the
// values of a profile.
type volumeFlags struct {
	parameters, snapshotParameters pairsFlag
	mountOptions                   []string
	accessModes                    []string
	noBlock                        bool
	fsType, size                   string
	secrets                        string
	handle                         string
	attributes                     pairsFlag
	lifecycle                      []string
	podInfo                        bool
	fsGroupPolicy                  string
	tokenRequests                  []string
	extraCreateMetadata            bool
}

func (f *volumeFlags) addTo(flags *pflag.FlagSet) {
	flags.Var(&f.parameters, "parameter", "`KEY=VALUE` among the StorageClass's parameters; may be repeated")
	flags.Var(&f.snapshotParameters, "snapshot-parameter", "`KEY=VALUE` among the VolumeSnapshotClass's parameters; may be repeated")
	flags.StringArrayVar(&f.mountOptions, "mount-option", nil, "`OPTION` among the mountOptions of volumes; may be repeated")
	flags.StringSliceVar(&f.accessModes, "access-mode", nil, "only volumes with this access `MODE`, such as ReadWriteOnce or RWO; may be repeated (default: all that the driver supports, or the profile's)")
	flags.BoolVar(&f.noBlock, "no-block", false, "no raw block volumes")
	flags.StringVar(&f.fsType, "fs-type", "", "`TYPE` of file systems, such as ext4 (default the driver's choice)")
	flags.StringVar(&f.size, "volume-size", "", "`SIZE` of volumes, rounded up as the driver does (default 16Mi)")
	flags.StringVar(&f.secrets, "secrets", "", "YAML `FILE` with the Secret of all calls, KEY: VALUE, or with one Secret per call, CreateVolumeSecret: {KEY: VALUE}, in the format of csi-sanity")
	flags.StringVar(&f.handle, "handle", "", "`ID` of an existing volume, for a driver that cannot create any")
	flags.Var(&f.attributes, "attribute", "`KEY=VALUE` among the attributes of the volume of --handle, and of inline volumes; may be repeated")
	flags.StringSliceVar(&f.lifecycle, "lifecycle", nil, "`MODE` of volumes in the CSIDriver object: Persistent, or Ephemeral for inline volumes; may be repeated (default Persistent, or the profile's)")
	flags.BoolVar(&f.podInfo, "pod-info", false, "podInfoOnMount in the CSIDriver object")
	flags.StringVar(&f.fsGroupPolicy, "fs-group-policy", "", "fsGroupPolicy in the CSIDriver object: `POLICY` is ReadWriteOnceWithFSType, File or None (default ReadWriteOnceWithFSType, or the profile's)")
	flags.StringArrayVar(&f.tokenRequests, "token-request", nil, "tokenRequests in the CSIDriver object: `AUDIENCE` of a service account token; may be repeated")
	flags.BoolVar(&f.extraCreateMetadata, "extra-create-metadata", false, "CreateVolume has the names of claim and volume among its parameters, as with this flag of csi-provisioner")
}

// The access modes and volume modes that can be tried.
var (
	volumeModes = []string{"Filesystem", "Block"}
	accessModes = []string{"ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"}
	// shortModes are the access modes as kubectl prints them.
	shortModes = map[string]string{"RWO": "ReadWriteOnce", "ROX": "ReadOnlyMany", "RWX": "ReadWriteMany", "RWOP": "ReadWriteOncePod"}
)

// fsTypeName matches the names of file systems.
var fsTypeName = lazyregexp.New(`^[a-z0-9][a-z0-9._-]*$`)

// amend applies the flags to a profile.
func (f *volumeFlags) amend(p *profile.Profile) error {
	p.StorageClass.Parameters = merged(p.StorageClass.Parameters, f.parameters)
	if len(f.snapshotParameters) > 0 {
		if p.SnapshotClass == nil {
			p.SnapshotClass = &profile.Class{}
		}
		p.SnapshotClass.Parameters = merged(p.SnapshotClass.Parameters, f.snapshotParameters)
	}
	if slices.Contains(f.mountOptions, "") {
		return usage("--mount-option: it is empty, want an option such as noatime")
	}
	if len(f.mountOptions) > 0 {
		p.StorageClass.MountOptions = f.mountOptions
	}
	if f.noBlock {
		p.VolumeModes = []string{"Filesystem"}
	}
	if f.fsType != "" && !fsTypeName().MatchString(f.fsType) {
		return usage("--fs-type %s: want the name of a file system, such as ext4", f.fsType)
	}
	p.FSType = cmp.Or(f.fsType, p.FSType)
	p.VolumeHandle = cmp.Or(f.handle, p.VolumeHandle)
	p.VolumeAttributes = merged(p.VolumeAttributes, f.attributes)
	p.ExtraCreateMetadata = p.ExtraCreateMetadata || f.extraCreateMetadata
	if f.secrets != "" {
		p.SecretsFile = located("./" + f.secrets)
		if filepath.IsAbs(f.secrets) {
			p.SecretsFile = f.secrets
		}
	}
	for _, set := range []func(*profile.Profile) error{f.setModes, f.setSize, f.setCSIDriver} {
		if err := set(p); err != nil {
			return err
		}
	}
	return nil
}

// merged returns pairs, overridden by others.
func merged(pairs, others map[string]string) map[string]string {
	if len(others) == 0 {
		return pairs
	}
	all := maps.Clone(pairs)
	if all == nil {
		all = map[string]string{}
	}
	maps.Copy(all, others)
	return all
}

func (f *volumeFlags) setModes(p *profile.Profile) error {
	var modes []string
	for _, mode := range f.accessModes {
		if long, short := shortModes[mode]; short {
			mode = long
		}
		if !slices.Contains(accessModes, mode) {
			return usage("--access-mode %s: want ReadWriteOnce, ReadOnlyMany, ReadWriteMany or ReadWriteOncePod, or RWO, ROX, RWX or RWOP", mode)
		}
		modes = append(modes, mode)
	}
	if len(modes) > 0 {
		p.AccessModes = modes
	}
	return nil
}

func (f *volumeFlags) setSize(p *profile.Profile) error {
	if f.size == "" {
		return nil
	}
	size, err := resource.ParseQuantity(f.size)
	if err != nil || size.Sign() <= 0 {
		return usage("--volume-size %s: want a size such as 1Gi", f.size)
	}
	p.VolumeSize = size
	return nil
}

// describesCSIDriver reports whether a flag is about the CSIDriver object.
func (f *volumeFlags) describesCSIDriver() bool {
	return len(f.lifecycle) > 0 || f.podInfo || f.fsGroupPolicy != "" || len(f.tokenRequests) > 0
}

// setCSIDriver applies the flags that describe the CSIDriver object.
func (f *volumeFlags) setCSIDriver(p *profile.Profile) error {
	if !f.describesCSIDriver() {
		return nil
	}
	if p.File != "" {
		return usage("--profile and --lifecycle, --pod-info, --fs-group-policy or --token-request: the profile has the CSIDriver object")
	}
	modes := []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	if len(f.lifecycle) > 0 {
		modes = nil
	}
	for _, mode := range f.lifecycle {
		switch m := storagev1.VolumeLifecycleMode(mode); m {
		case storagev1.VolumeLifecyclePersistent, storagev1.VolumeLifecycleEphemeral:
			modes = append(modes, m)
		default:
			return usage("--lifecycle %s: want Persistent or Ephemeral", mode)
		}
	}
	p.CSIDriver = &storagev1.CSIDriverSpec{PodInfoOnMount: &f.podInfo, VolumeLifecycleModes: modes}
	for i, audience := range f.tokenRequests {
		if slices.Contains(f.tokenRequests[:i], audience) {
			return usage("--token-request %q: it is given twice", audience)
		}
		p.CSIDriver.TokenRequests = append(p.CSIDriver.TokenRequests, storagev1.TokenRequest{Audience: audience})
	}
	switch policy := storagev1.FSGroupPolicy(f.fsGroupPolicy); policy {
	case "":
	case storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy, storagev1.FileFSGroupPolicy, storagev1.NoneFSGroupPolicy:
		p.CSIDriver.FSGroupPolicy = &policy
	default:
		return usage("--fs-group-policy %s: want ReadWriteOnceWithFSType, File or None", policy)
	}
	return nil
}

// takeVolumes copies a profile's description of volumes.
func takeVolumes(s *check.Subject, p *profile.Profile) error {
	s.Parameters, s.MountOptions = p.StorageClass.Parameters, p.StorageClass.MountOptions
	if p.SnapshotClass != nil {
		s.SnapshotParameters = p.SnapshotClass.Parameters
	}
	s.AccessModes, s.VolumeModes = p.AccessModes, p.VolumeModes
	if len(s.VolumeModes) > 0 && !slices.Contains(s.VolumeModes, "Filesystem") {
		return usage("--profile %s: volumeModes are %s: want Filesystem among them, which most scenarios use", p.File, strings.Join(s.VolumeModes, ", "))
	}
	s.FSType, s.VolumeSize = p.FSType, p.VolumeSize
	s.Handle, s.Attributes = p.VolumeHandle, p.VolumeAttributes
	s.CSIDriver = p.CSIDriver
	s.Driver.Sidecars.Provisioner.ExtraCreateMetadata = &p.ExtraCreateMetadata
	var err error
	if s.Secrets, err = p.Secrets(); err != nil {
		return usage("secrets: %w", err)
	}
	return nil
}
