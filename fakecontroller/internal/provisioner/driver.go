package provisioner

import (
	"google.golang.org/grpc"

	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
)

// conn returns a connection for one call with a timeout.
func (c *Provisioner) conn(p *kernel.Process) grpc.ClientConnInterface {
	site := c.site()
	site.Deadline = p.Elapsed() + c.options.Timeout
	return c.life.Watch(c.wire.Conn(p, site))
}

func (c *Provisioner) site() wire.Site {
	return wire.Site{Caller: c.options.Called(Name), Driver: c.driver, Node: c.options.Node, Machine: c.options.Machine, Socket: c.options.Socket}
}
