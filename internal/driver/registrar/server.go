package registrar

import (
	"context"

	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
)

// server answers the kubelet at the registration socket. C-REG-3
type server struct {
	registration.UnimplementedRegistrationServer
	info   *registration.PluginInfo
	notify func(*registration.RegistrationStatus)

	status *registration.RegistrationStatus // the kubelet's decision; nil before it
}

func newServer(r *Registrar, p *kernel.Process) *server {
	s := &server{info: &registration.PluginInfo{
		Type: registration.CSIPlugin, Name: r.driver, Endpoint: r.options.Endpoint, SupportedVersions: []string{"1.0.0"},
	}}
	s.notify = func(verdict *registration.RegistrationStatus) {
		s.status = verdict
		if r.refusal = verdict.Error; verdict.PluginRegistered {
			r.refusal = ""
		}
		p.Wake()
	}
	if !wire.InProcess(r.options.Machine) { // calls arrive on other threads
		deliver, name := s.notify, p.Name()+" is notified"
		s.notify = func(verdict *registration.RegistrationStatus) {
			r.world.Kernel.Arrive(name, func() { deliver(verdict) })
		}
	}
	return s
}

// GetInfo returns the plugin's registration.
func (s *server) GetInfo(context.Context, *registration.InfoRequest) (*registration.PluginInfo, error) {
	return s.info, nil
}

// NotifyRegistrationStatus takes the kubelet's verdict.
func (s *server) NotifyRegistrationStatus(_ context.Context, verdict *registration.RegistrationStatus) (*registration.RegistrationStatusResponse, error) {
	s.notify(verdict)
	return &registration.RegistrationStatusResponse{}, nil
}
