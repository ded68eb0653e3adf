package provisioner

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// The parameters of a class that the provisioner uses itself and does not pass on.
const (
	prefix        = "csi.storage.k8s.io/"
	fsTypeKey     = prefix + "fstype"
	oldFSTypeKey  = "fstype"
	claimNameKey  = prefix + "pvc/name"
	claimSpaceKey = prefix + "pvc/namespace"
	volumeNameKey = prefix + "pv/name"
	identityKey   = "storage.kubernetes.io/csiProvisionerIdentity"
)

// plan is a request and the other data for the PersistentVolume.
type plan struct {
	request *csi.CreateVolumeRequest
	fsType  string
	node    string // selected by the scheduler; empty without a selection
	secrets secretRefs
	vac     string
}

// prepare builds the request for a claim. The order of its checks decides which error a failed
// attempt returns. C-PROV-20
func (c *Provisioner) prepare(p *kernel.Process, pvc claim, class *storagev1.StorageClass) (plan, result) {
	fail := func(s state, err error) (plan, result) { return plan{}, result{state: s, err: err} }
	out := plan{node: pvc.Annotations[storagevolume.AnnSelectedNode], vac: c.attributesClass(pvc)}
	from, failure := c.sourceFor(pvc)
	if failure.err != nil {
		return plan{}, failure
	}
	if err := c.checkCapabilities(from, out.vac); err != nil {
		return fail(finished, err)
	}
	if pvc.Spec.Selector != nil {
		return fail(finished, errors.New("claim Selector is not supported"))
	}
	var err error
	if out.fsType, err = fsType(class.Parameters, c.options.DefaultFSType); err != nil {
		return fail(finished, err)
	}
	wanted, err := c.volumeCapabilities(pvc, class, out.fsType)
	if err != nil {
		return fail(finished, err)
	}
	request := &csi.CreateVolumeRequest{
		Name:               volumeName(pvc),
		VolumeCapabilities: wanted,
		CapacityRange:      &csi.CapacityRange{RequiredBytes: pvc.Spec.Resources.Requests.Storage().Value()},
	}
	if request.VolumeContentSource, err = c.contentSource(p, pvc, class, from); err != nil {
		return fail(noChange, err)
	}
	if c.promises.Serves("VOLUME_ACCESSIBILITY_CONSTRAINTS") {
		requirement, failure := c.topologyFor(pvc, class, out.node)
		if failure.err != nil {
			return plan{}, failure
		}
		request.AccessibilityRequirements = requirement
	}
	if out.secrets, err = secretsOf(class.Parameters, request.Name, pvc); err != nil {
		return fail(noChange, err)
	}
	if request.Secrets, err = sidecar.ReadSecret(p, c.Component, out.secrets[provisionerSecret]); err != nil {
		return fail(noChange, err)
	}
	if request.Parameters, err = driverParameters(class.Parameters); err != nil {
		return fail(finished, fmt.Errorf("failed to strip CSI Parameters of prefixed keys: %w", err))
	}
	c.addMetadata(request, pvc)
	if out.vac != "" {
		attributes, err := component.Live[*storagev1.VolumeAttributesClass](p, c.Component, store.Key{Name: out.vac})
		if err != nil {
			return fail(noChange, err)
		}
		if attributes.DriverName != c.driver {
			return fail(finished, fmt.Errorf("VAC %s referenced in PVC is for driver %s which does not match driver name %s", out.vac, attributes.DriverName, c.driver))
		}
		request.MutableParameters = attributes.Parameters
	}
	out.request = request
	return out, result{}
}

func (c *Provisioner) attributesClass(pvc claim) string {
	gate := c.options.Version.Gate(c.options.VolumeAttributesClass, sidecar.ProvisionsAttributes)
	if pvc.Spec.VolumeAttributesClassName == nil || !gate {
		return ""
	}
	return *pvc.Spec.VolumeAttributesClassName
}

// checkCapabilities: C-PROV-21
func (c *Provisioner) checkCapabilities(from dataSource, vac string) error {
	switch {
	case !c.promises.Serves("CONTROLLER_SERVICE"):
		return errors.New("CSI driver does not support dynamic provisioning: plugin CONTROLLER_SERVICE capability is not reported")
	case !c.promises.Can("CREATE_DELETE_VOLUME"):
		return errors.New("CSI driver does not support dynamic provisioning: controller CREATE_DELETE_VOLUME capability is not reported")
	case from.isSnapshot() && !c.promises.Can("CREATE_DELETE_SNAPSHOT"):
		return errors.New("CSI driver does not support snapshot restore: controller CREATE_DELETE_SNAPSHOT capability is not reported")
	case from.isClaim() && !c.promises.Can("CLONE_VOLUME"):
		return errors.New("CSI driver does not support clone operations: controller CLONE_VOLUME capability is not reported")
	case vac != "" && !c.promises.Can("MODIFY_VOLUME"):
		return errors.New("CSI driver does not support VolumeAttributesClass: controller MODIFY_VOLUME capability is not reported")
	}
	return nil
}

// volumeCapabilities returns one capability for each access mode of the claim. C-PROV-23
func (c *Provisioner) volumeCapabilities(pvc claim, class *storagev1.StorageClass, fsType string) ([]*csi.VolumeCapability, error) {
	var list []*csi.VolumeCapability
	for _, m := range pvc.Spec.AccessModes {
		mode, err := volume.ControllerAccessMode([]corev1.PersistentVolumeAccessMode{m}, c.promises.Can("SINGLE_NODE_MULTI_WRITER"))
		if err != nil {
			return nil, err
		}
		list = append(list, volume.Capability(volume.IsBlock(pvc.Spec.VolumeMode), fsType, class.MountOptions, mode))
	}
	return list, nil
}

// fsType returns the file system that the class requests. C-PROV-24
func fsType(parameters map[string]string, otherwise string) (string, error) {
	found := ""
	count := 0
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		if key == fsTypeKey || strings.EqualFold(key, oldFSTypeKey) {
			found = parameters[key]
			count++
		}
	}
	switch {
	case count > 1:
		return "", fmt.Errorf("fstype specified in parameters with both %q and %q keys", oldFSTypeKey, fsTypeKey)
	case count == 0 || found == "":
		return otherwise, nil
	}
	return found, nil
}

// driverParameters returns the class parameters, without the ones for the provisioner. C-PROV-24
func driverParameters(parameters map[string]string) (map[string]string, error) {
	kept := map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(parameters)) {
		switch {
		case key == fsTypeKey || isSecretKey(key):
		case strings.HasPrefix(key, prefix):
			return nil, fmt.Errorf("found unknown parameter key %q with reserved namespace %s", key, strings.TrimSuffix(prefix, "/"))
		default:
			kept[key] = parameters[key]
		}
	}
	return kept, nil
}

func (c *Provisioner) addMetadata(request *csi.CreateVolumeRequest, pvc claim) {
	if !*c.options.ExtraCreateMetadata {
		return
	}
	request.Parameters[claimNameKey] = pvc.Name
	request.Parameters[claimSpaceKey] = pvc.Namespace
	request.Parameters[volumeNameKey] = request.Name
}
