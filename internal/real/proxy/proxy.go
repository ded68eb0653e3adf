// Package proxy runs between the callers of a CSI driver and the driver. Each caller has its own
// socket, so that the caller of each call is known. Calls pass the wire of the simulation, here
// with the real clock: it records them with secrets redacted, checks them against the CSI spec and
// injects faults. Records are written to a file before an answer is sent, so that a killed proxy
// loses none, and are served from this file.
package proxy

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"google.golang.org/grpc"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// Options describe a proxy.
type Options struct {
	// Driver is the driver's name in records and faults. Node is the name of its plugin's node;
	// empty for the controller plugin.
	Driver, Node string
	// Upstream is the path of the driver's socket.
	Upstream string
	// Listen maps each caller, such as kubelet or csi-attacher, to its socket.
	Listen map[string]string
	// Records is the directory of the records; required. Each start of a proxy adds a file.
	Records string
	// Address serves records and fault injection, host:port. Default: none.
	Address string
	// Token is the bearer token for clients of Address.
	Token string
	// Command starts the driver as a child of the proxy. Default: it is started elsewhere.
	Command []string
	// Listening makes the proxy end the process that listens at Upstream; another component
	// restarts it.
	Listening bool
	// Strict is the option Strict of the wire.
	Strict bool
}

// Proxy is a running proxy.
type Proxy struct {
	options Options
	world   *component.World
	wire    *wire.Wire
	machine machine.Machine
	records *records
	program life // nil if the driver cannot be ended
	orders  orders
	calls   underWay
	// For calls that the wire does not handle, and to notice the driver's end.
	driver  *grpc.ClientConn
	sockets []*callerSocket
}

// Run serves until ctx ends. Then the driver, if it is a child, gets SIGTERM, and the sockets are
// removed.
func Run(ctx context.Context, o Options) (err error) {
	p, err := start(o)
	if err != nil {
		return err
	}
	live, end := context.WithCancel(ctx)
	defer end()
	failed := make(chan error, len(o.Listen)+2)
	stopControl, err := p.serveControl(failed)
	if err == nil {
		err = p.listen(live, failed)
	}
	if err != nil {
		return errors.Join(err, stopControl(), p.close())
	}
	if len(o.Command) > 0 {
		_ = p.program.start() // it is retried
	}
	go p.keepRecords(live)
	go p.watchDriver(live)
	go func() {
		p.world.Kernel.RunLive(live.Done(), 1)
		failed <- p.world.Kernel.Err()
	}()
	select {
	case <-ctx.Done():
		if len(o.Command) > 0 {
			_ = p.program.stop() // it is over
		}
		for _, s := range p.sockets {
			s.shut(true)
		}
		end()
		err = <-failed
	case err = <-failed:
		if len(o.Command) > 0 {
			_ = p.program.stop() // it is over
		}
	}
	return errors.Join(err, stopControl(), p.close())
}

func start(o Options) (*Proxy, error) {
	began := time.Now()
	k := kernel.New(kernel.Options{Start: began})
	p := &Proxy{
		options: o, machine: machine.NewHost(o.Node), orders: make(orders, 1), calls: underWay{},
		world: component.NewWorld(k, store.New(store.Options{Now: k.Now}), trace.NewRecorder(k)),
	}
	p.wire = wire.New(p.world)
	p.wire.RealClock, p.wire.Strict = true, o.Strict
	p.wire.Crasher, p.wire.Observer = crasher{p}, observer{p}
	var err error
	if p.driver, err = connect(o.Upstream); err != nil {
		return nil, err
	}
	if p.records, err = openRecords(o.Records, p.world.Trace, began); err != nil {
		return nil, errors.Join(err, p.driver.Close())
	}
	switch {
	case len(o.Command) > 0:
		p.program = newProgram(o.Command, p.programEnded)
	case o.Listening:
		p.program = listening(o.Upstream)
	}
	return p, nil
}

// listen binds the sockets and replaces files of an earlier proxy.
func (p *Proxy) listen(live context.Context, failed chan<- error) error {
	for _, caller := range slices.Sorted(keysOf(p.options.Listen)) {
		s := &callerSocket{
			caller: caller, path: p.options.Listen[caller], upstream: p.options.Upstream, live: live, failed: failed, handler: p.handler(caller),
		}
		if err := s.open(); err != nil {
			return err
		}
		p.sockets = append(p.sockets, s)
	}
	return nil
}

func (p *Proxy) close() error {
	for _, s := range p.sockets {
		s.shut(true)
	}
	p.world.Kernel.Close()
	p.world.Trace.Close()
	p.records.take()
	p.wire.Close()
	return errors.Join(p.records.close(), p.driver.Close())
}

// programEnded records that the driver ended by itself.
func (p *Proxy) programEnded(how string) {
	p.world.Kernel.Post(func() {
		p.world.Trace.Add(trace.Entry{Kind: trace.Died, Driver: p.options.Driver, Node: p.options.Node, Message: fmt.Sprintf("%s: %s", filepath.Base(p.options.Command[0]), how)})
		p.records.take()
	})
	p.driverGone(false)
}

// lateEnds is the interval of checks for calls that ended after their callers.
const lateEnds = 50 * time.Millisecond

// keepRecords writes the records of calls that end without a waiting caller.
func (p *Proxy) keepRecords(live context.Context) {
	tick := time.NewTicker(lateEnds)
	defer tick.Stop()
	for {
		select {
		case <-live.Done():
			return
		case <-tick.C:
			p.world.Kernel.Post(p.records.take)
		}
	}
}

// observer writes records when calls begin and end.
type observer struct{ *Proxy }

func (o observer) Began(wire.Site, *trace.Event) { o.records.take() }
func (o observer) Ended(wire.Site, *trace.Event) { o.records.take() }
