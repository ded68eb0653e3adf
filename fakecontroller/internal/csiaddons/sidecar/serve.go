package sidecar

import (
	"net/netip"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// serve listens for the controller manager. It serves all services, regardless of the driver's
// capabilities. If the port is not available, the sidecar ends. A-SRV-1
func (r *run) serve(pod *corev1.Pod) func(*kernel.Process) {
	return func(p *kernel.Process) {
		ip, err := netip.ParseAddr(pod.Status.PodIP)
		if err == nil {
			err = r.network.Listen(p, r.Component, netip.AddrPortFrom(ip, uint16(r.opts.Port)), r.opts.secured(), service{r})
		}
		if err != nil {
			r.fail(p)
		}
		p.Wait("its end", func() bool { return false })
	}
}

// service answers the controller manager.
type service struct{ *run }

// review makes the API server review the caller's token. A-SRV-2
func (s service) review(c relay.Call) {
	if s.opts.secured() {
		component.ReviewToken(c.Process, s.Component)
	}
}

// GetIdentity forwards the call.
func (s service) GetIdentity(c relay.Call) (*identity.GetIdentityResponse, error) {
	s.review(c)
	return identity.NewIdentityClient(s.conn(c)).GetIdentity(ctx, &identity.GetIdentityRequest{})
}

// Probe forwards the call.
func (s service) Probe(c relay.Call) (*identity.ProbeResponse, error) {
	s.review(c)
	return identity.NewIdentityClient(s.conn(c)).Probe(ctx, &identity.ProbeRequest{})
}

// GetCapabilities forwards the call.
func (s service) GetCapabilities(c relay.Call) ([]*identity.Capability, error) {
	s.review(c)
	answer, err := identity.NewIdentityClient(s.conn(c)).GetCapabilities(ctx, &identity.GetCapabilitiesRequest{})
	return answer.GetCapabilities(), err
}

// secret reads a secret; if that fails, the error has this code. A-TR-5, A-TR-6
func (s service) secret(c relay.Call, ref relay.Secret, code codes.Code) (map[string]string, error) {
	content, err := s.readSecret(c, &corev1.SecretReference{Name: ref.Name, Namespace: ref.Namespace})
	if err != nil {
		return nil, status.Error(code, err.Error())
	}
	return content, nil
}

func (s service) readSecret(c relay.Call, ref *corev1.SecretReference) (map[string]string, error) {
	if ref == nil {
		return nil, nil
	}
	secret, err := component.Live[*corev1.Secret](c.Process, s.Component, store.Key{Namespace: ref.Namespace, Name: ref.Name})
	if err != nil {
		return nil, err
	}
	content := map[string]string{}
	for key, value := range secret.Data {
		content[key] = string(value)
	}
	return content, nil
}

// RotateKey: A-TR-1, A-TR-4
func (s service) RotateKey(c relay.Call, name string) error {
	s.review(c)
	pv, err := component.Live[*corev1.PersistentVolume](c.Process, s.Component, store.Key{Name: name})
	switch {
	case err != nil:
		return status.Errorf(codes.InvalidArgument, "failed to find a pv with name: %s. error: %v", name, err)
	case pv.Spec.CSI == nil:
		return status.Errorf(codes.InvalidArgument, "%s is not a CSI volume", name)
	}
	capability, err := capabilityOf(pv)
	if err != nil {
		return err
	}
	capability = &csi.VolumeCapability{AccessMode: capability.GetAccessMode()}
	secrets, err := s.readSecret(c, pv.Spec.CSI.NodeStageSecretRef)
	if err != nil {
		return status.Error(codes.InvalidArgument, err.Error())
	}
	_, err = encryptionkeyrotation.NewEncryptionKeyRotationControllerClient(s.conn(c)).EncryptionKeyRotate(ctx, &encryptionkeyrotation.EncryptionKeyRotateRequest{
		VolumeId: pv.Spec.CSI.VolumeHandle, Parameters: pv.Spec.CSI.VolumeAttributes, Secrets: secrets, VolumeCapability: capability,
	})
	return err
}
