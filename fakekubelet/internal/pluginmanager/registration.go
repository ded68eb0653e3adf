package pluginmanager

import (
	"context"
	"errors"
	"fmt"
	"time"

	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Deadlines of the calls of a handshake. K-REG-8
const (
	dialTimeout   = 10 * time.Second
	infoTimeout   = time.Second
	notifyTimeout = 5 * time.Second
)

// register tries once to register the plugin behind a socket. K-REG-8
func (m *Manager) register(p *kernel.Process, socket string, created creation) error {
	delete(m.attempts, socket)
	err := m.handshake(p, socket, created)
	if err != nil {
		m.attempts[socket] = attempt{created: created, unheard: errors.Is(err, errUnheard)}
	}
	return err
}

func (m *Manager) handshake(p *kernel.Process, socket string, created creation) error {
	r, err := m.connect(p, socket, created)
	if err != nil {
		return err
	}
	defer r.close()
	info, err := r.getInfo()
	if err != nil {
		return fmt.Errorf("RegisterPlugin error -- failed to get plugin info using RPC GetInfo at socket %s, err: %w", socket, err)
	}
	if info.Type != registration.CSIPlugin {
		return r.refuse("RegisterPlugin error -- no handler registered for plugin type: %s at socket %s", info.Type, socket)
	}
	if info.Endpoint == "" {
		info.Endpoint = socket
	}
	if _, err := m.validate("ValidatePlugin", info); err != nil {
		return r.refuse("RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver %s at endpoint %s: %v",
			info.Name, info.Endpoint, err)
	}
	// The reconciler regards it as registered from here on. If its socket vanishes during the
	// remaining steps, it is unregistered. K-RACE-1
	m.actual[socket] = plugin{socket: socket, created: created, name: info.Name}
	p.Yield("registration of driver ", info.Name) // another socket may offer it, too
	if err := m.registerDriver(p, info); err != nil {
		delete(m.actual, socket)
		return r.refuse("RegisterPlugin error -- plugin registration failed with err: %v", err)
	}
	if err := r.accept(); err != nil {
		return errors.Join(err, m.unregister(p, m.actual[socket]))
	}
	return nil
}

// unregister never fails. Anything that it cannot clean up stays behind. K-REG-18
func (m *Manager) unregister(p *kernel.Process, gone plugin) error {
	delete(m.actual, gone.socket)
	_ = m.forgetDriver(p, gone.name) // logged only
	m.info.Unregistered(gone.name)
	return nil
}

// refuse notifies the registrar that its plugin is not registered, and returns the error of the
// attempt. K-REG-11
func (r *registrar) refuse(format string, args ...any) error {
	why := fmt.Errorf(format, args...)
	return errors.Join(why, r.notify(&registration.RegistrationStatus{Error: why.Error()}))
}

func (r *registrar) accept() error {
	return r.notify(&registration.RegistrationStatus{PluginRegistered: true})
}

func (r *registrar) notify(status *registration.RegistrationStatus) error {
	r.deadline = r.process.Elapsed() + notifyTimeout
	if _, err := registration.NewRegistrationClient(r).NotifyRegistrationStatus(context.Background(), status); err != nil {
		return fmt.Errorf("failed to send registration status at socket %s, err: %w", r.socket, err)
	}
	return nil
}
