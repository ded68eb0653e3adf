package registrar

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// infoTimeout is the deadline of GetPluginInfo. C-REG-1
const infoTimeout = time.Second

// run is one run of the program. It returns the reason for its exit with status 1. C-REG-2
func (r *Registrar) run(p *kernel.Process) error {
	name, err := r.askName(p)
	if err != nil {
		return fmt.Errorf("error retrieving the name of the CSI driver: %w", err)
	}
	r.driver = name
	server := newServer(r, p)
	if err := r.clearSocket(); err != nil {
		return fmt.Errorf("clean up the registration socket: %w", err)
	}
	p.Yield("bind " + r.Socket())
	r.listener, err = r.options.Machine.BindSocket(r.Socket(),
		machine.Service{Desc: &registration.Registration_ServiceDesc, Server: server, Prompt: true})
	if err != nil {
		return err
	}
	p.Wait("the kubelet to register "+name, func() bool { return server.status != nil })
	for {
		r.registered = server.status.PluginRegistered
		if !r.registered && !r.options.StaysWhenRefused {
			return fmt.Errorf("the kubelet refuses the plugin: %s", server.status.Error)
		}
		server.status = nil
		p.Wait("news from the kubelet", func() bool { return server.status != nil })
	}
}

// askName requests the driver's name, and waits until the driver's socket is served. C-REG-2,
// C-LIB-1
func (r *Registrar) askName(p *kernel.Process) (string, error) {
	stop, err := r.watchEndpoint(p)
	if err != nil {
		return "", err
	}
	defer stop()
	p.IdleUntil("nothing", p.Elapsed()) // the existing files are checked anyway
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		if r.endpointExists() {
			name, err := r.getPluginInfo(p)
			if !wire.NobodyListens(err) {
				return name, err
			}
		}
		p.IdleUntil("the driver's socket "+r.options.Endpoint, p.Elapsed()+pause)
	}
}

// A program creates its socket shortly before it listens there, so a refused connection is also
// retried without an event. Since the driver may never start, the retries are housekeeping and soon
// become rare.
const (
	firstPause   = time.Second
	longestPause = time.Minute
)

func (r *Registrar) getPluginInfo(p *kernel.Process) (string, error) {
	conn := r.wire.Conn(p, wire.Site{
		Caller: Name, Driver: r.driver, Node: r.options.Node, Machine: r.options.Machine,
		Socket: r.options.Endpoint, Deadline: p.Elapsed() + infoTimeout,
	})
	info, err := csi.NewIdentityClient(conn).GetPluginInfo(context.Background(), &csi.GetPluginInfoRequest{})
	if err != nil {
		return "", err
	}
	if info.GetName() == "" {
		return "", errors.New("driver name is empty")
	}
	return info.GetName(), nil
}

// watchEndpoint wakes p when the driver's socket appears.
func (r *Registrar) watchEndpoint(p *kernel.Process) (stop func(), err error) {
	m, dir := r.options.Machine, path.Dir(r.options.Endpoint)
	if err := m.MkdirAll(dir, 0o755); err != nil { // like a DirectoryOrCreate volume
		return nil, err
	}
	wake := p.Wake
	if !wire.InProcess(m) { // events arrive on other threads
		wake = func() { r.world.Kernel.Arrive(p.Name()+" sees the driver's socket", p.Wake) }
	}
	return m.Watch(dir, func(e machine.Event) {
		if e.Op == machine.Created && e.Path == r.options.Endpoint {
			wake()
		}
	})
}

func (r *Registrar) endpointExists() bool {
	_, err := r.options.Machine.Lstat(r.options.Endpoint)
	return err == nil
}
