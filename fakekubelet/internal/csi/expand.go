package csi

import (
	"errors"
	"fmt"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/version"
)

const capExpand = csispec.NodeServiceCapability_RPC_EXPAND_VOLUME

// The meanings of a failed NodeExpandVolume beyond its class. K-EXP-10, K-EXP-15
var (
	// ErrInUse: the driver cannot expand a volume in use.
	ErrInUse = errors.New("the volume cannot be expanded while it is in use")
	// ErrInfeasible: the driver will never expand the volume to that size.
	ErrInfeasible = errors.New("the volume cannot have that size")
	// ErrNoExpansion: the driver does not expand volumes on nodes.
	ErrNoExpansion = errors.New("the driver does not expand volumes on nodes")
)

// expandError is a failure of NodeExpandVolume with one of these meanings.
type expandError struct {
	kind error
	text string
}

func (e *expandError) Error() string        { return e.text }
func (e *expandError) Is(target error) bool { return target == e.kind }

// Expansion is the expansion of one volume on the node.
type Expansion struct {
	Spec *Spec
	Size resource.Quantity
	// Path is the path at which the volume is published; for a raw block volume, the device.
	Path string
	// Staging is the staging path. It is sent even if the driver does not stage, except for a raw
	// block volume with an already prepared device.
	Staging string
}

// NodeExpand makes the file system or the device bigger. Only a missing driver is a transient
// error. Uncertain errors are wrapped and therefore final. K-EXP-8, K-EXP-11
func (pl *Plugin) NodeExpand(p *kernel.Process, x Expansion) error {
	source := x.Spec.PV.Spec.CSI
	s, err := pl.begin(p, x.Spec)
	if err != nil {
		return TransientError{err}
	}
	expands, err := s.has(capExpand)
	if err != nil {
		return fmt.Errorf("Expander.NodeExpand failed to check if node supports expansion : %w", err)
	}
	if !expands {
		return &expandError{ErrNoExpansion, "NodeExpand is not supported by the CSI driver " + source.Driver}
	}
	ref := source.NodeExpandSecretRef
	if !pl.kubelet.Version.Has(version.NodeExpandSecret) {
		ref = nil
	}
	secrets, err := s.secret(ref)
	if err != nil {
		return fmt.Errorf("expander.NodeExpand failed to get NodeExpandSecretRef %s/%s: %w", ref.Namespace, ref.Name, err)
	}
	return expandFailure(s.expand(x, secrets))
}

func (s *step) expand(x Expansion, secrets map[string]string) error {
	if err := given(x.Spec.Handle(""), x.Path, "volume path"); err != nil {
		return err
	}
	if x.Size.Sign() < 0 {
		return errors.New("size can not be less than 0")
	}
	capability, err := s.capability(x.Spec, mountWith{})
	if err != nil {
		return err
	}
	_, err = s.node.NodeExpandVolume(background, &csispec.NodeExpandVolumeRequest{
		VolumeId: x.Spec.Handle(""), VolumePath: x.Path, StagingTargetPath: x.Staging,
		CapacityRange:    &csispec.CapacityRange{RequiredBytes: x.Size.Value()},
		VolumeCapability: capability, Secrets: secrets,
	})
	return s.classified(err)
}

// expandFailure interprets the driver's answer. K-EXP-10
func expandFailure(err error) error {
	if err == nil {
		return nil
	}
	plain := fmt.Errorf("Expander.NodeExpand failed to expand the volume : %w", err)
	if IsUncertain(err) {
		return plain
	}
	switch status.Code(err) {
	case codes.FailedPrecondition:
		return &expandError{ErrInUse, plain.Error()}
	case codes.InvalidArgument, codes.OutOfRange, codes.NotFound: // without the colon. K-EXP-14
		return &expandError{ErrInfeasible, fmt.Sprintf("Expander.NodeExpand failed to expand the volume %v", err)}
	}
	return plain
}
