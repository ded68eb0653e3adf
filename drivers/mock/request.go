package mock

import (
	"path"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const (
	maxNameBytes = 128 // CSI "Size Limits"
)

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

// required rejects a request without the field (CSI "Error Scheme": missing required field).
func required(field, value string) error {
	if value == "" {
		return invalid("%s is required", field)
	}
	return nil
}

func absolute(field, value string) error {
	if err := required(field, value); err != nil {
		return err
	}
	if !path.IsAbs(value) {
		return invalid("%s %q is not an absolute path", field, value)
	}
	return nil
}

// first returns the first error that is not nil.
func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// suggestedName checks the name of a new volume or snapshot (CSI "CreateVolume", field name).
func suggestedName(name string) error {
	if err := required("name", name); err != nil {
		return err
	}
	if len(name) > maxNameBytes {
		return invalid("name is longer than %d bytes", maxNameBytes)
	}
	if strings.ContainsFunc(name, bannedInName) {
		return invalid("name %q has control characters", name)
	}
	return nil
}

func bannedInName(r rune) bool {
	switch r {
	case '\t', '\n', '\r':
		return false
	}
	return r < 0x20 || r >= 0x7f && r <= 0x9f
}

func capacityRange(r *csi.CapacityRange) error {
	low, high := r.GetRequiredBytes(), r.GetLimitBytes()
	switch {
	case r == nil:
		return nil
	case low < 0 || high < 0:
		return invalid("capacity_range must not be negative")
	case low == 0 && high == 0:
		return invalid("capacity_range needs required_bytes or limit_bytes")
	case high > 0 && low > high:
		return status.Errorf(codes.OutOfRange, "required_bytes %d is more than limit_bytes %d", low, high)
	}
	return nil
}

func inRange(bytes int64, r *csi.CapacityRange) bool {
	return bytes >= r.GetRequiredBytes() && (r.GetLimitBytes() == 0 || bytes <= r.GetLimitBytes())
}

// capability checks that a capability is complete and supported by this driver (CSI "CreateVolume",
// message VolumeCapability).
func (d *Driver) capability(c *csi.VolumeCapability) error {
	if c == nil {
		return invalid("volume_capability is required")
	}
	if c.GetBlock() == nil && c.GetMount() == nil {
		return invalid("volume_capability: access_type is required")
	}
	if c.GetMount().GetVolumeMountGroup() != "" && !d.options.VolumeMountGroup {
		return invalid("volume_capability: volume_mount_group needs the capability VOLUME_MOUNT_GROUP")
	}
	mode := c.GetAccessMode().GetMode()
	if _, known := csi.VolumeCapability_AccessMode_Mode_name[int32(mode)]; !known || mode == csi.VolumeCapability_AccessMode_UNKNOWN {
		return invalid("volume_capability: access_mode is required")
	}
	if definesWriters(mode) && !d.options.singleNodeMultiWriter() {
		return invalid("volume_capability: access mode %s needs the capability SINGLE_NODE_MULTI_WRITER", mode)
	}
	return nil
}

func (d *Driver) capabilities(list []*csi.VolumeCapability) error {
	if len(list) == 0 {
		return invalid("volume_capabilities is required")
	}
	for _, c := range list {
		if err := d.capability(c); err != nil {
			return err
		}
	}
	return nil
}

// contextOf checks that the caller passes the volume context from CreateVolume. A CO may add its
// own keys, as Kubernetes does.
func (d *Driver) contextOf(v *volume, given map[string]string) error {
	if !d.options.strict() {
		return nil
	}
	for _, want := range v.context {
		if got, ok := given[want.Key]; !ok || got != want.Value {
			return invalid("volume_context is not the one of volume %s", v.id)
		}
	}
	return nil
}
