package proxy

import (
	"errors"
	"fmt"
	"time"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/trace"
)

// Order is the kind of record by which a proxy requests that its reader kill or start a component
// outside the driver's pod. Method is Kill or Start, and Message the victim. Actor, Node and Driver
// are copied from the call.
const Order trace.Kind = "order"

// The methods of orders.
const (
	Kill  = "kill"
	Start = "start"
)

// orderTime limits how long a call waits for the end of its victim.
const orderTime = time.Minute

// crasher ends the driver at a call. The reader of the records kills all other victims.
type crasher struct{ *Proxy }

func (c crasher) Kill(victim fault.Victim, site wire.Site) error {
	if victim != fault.Driver {
		err := c.orders.carryOut(victim, func() { c.order(Kill, victim, site) })
		if err == nil {
			c.calls.endOf(victim, site.Caller)
		}
		return err
	}
	if c.program == nil {
		return errors.New(notEnded)
	}
	if err := c.program.kill(); err != nil {
		return err
	}
	c.wire.Forget(c.machine, c.options.Upstream)
	c.driverGone(false)
	return nil
}

func (c crasher) Restart(f *fault.Fault, site wire.Site) error {
	switch {
	case f.Victim != fault.Driver:
		c.order(Start, f.Victim, site)
	case len(c.options.Command) > 0:
		return c.program.start()
	}
	return nil // the kubelet starts its container again
}

func (c crasher) order(verb string, victim fault.Victim, site wire.Site) {
	c.world.Trace.Add(trace.Entry{Kind: Order, Actor: site.Caller, Node: site.Node, Driver: site.Driver, Method: verb, Message: string(victim)})
	c.records.take()
}

// orders are executed elsewhere, one at a time.
type orders chan struct{}

// carryOut gives an order and waits for its execution. All calls of the proxy pause meanwhile.
func (o orders) carryOut(victim fault.Victim, give func()) error {
	select {
	case <-o: // an answer to an earlier order, which is too late
	default:
	}
	give()
	select {
	case <-o:
		return nil
	case <-time.After(orderTime):
		return fmt.Errorf("the %s was not killed within %v: the reader of the records has to kill it", victim, orderTime)
	}
}

func (o orders) done() {
	select {
	case o <- struct{}{}:
	default:
	}
}
