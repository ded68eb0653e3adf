package sim

import (
	"context"
	"fmt"
	"math"
	"net"
	"slices"
	"time"

	"google.golang.org/grpc"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/bearer"
	"github.com/csisim/csisim/internal/world/store"
)

// runsOutside reports whether a program is external for one of the drivers.
func (c *Simulation) runsOutside(s Sidecar) bool {
	return slices.ContainsFunc(c.drivers, func(d *driver) bool { return slices.Contains(d.External, s) })
}

// reachAddons connects the programs of CSI-Addons with the external ones, in both directions.
func (c *Simulation) reachAddons() {
	if manager := c.runsOutside(AddonsManager); manager || c.runsOutside(AddonsProgram) {
		c.addons.Reach(addonsOutside{c}, manager)
	}
}

// addonsOutside is the network between programs of CSI-Addons here and elsewhere: those here are on
// loopback.
type addonsOutside struct{ *Simulation }

// Serve serves clients with a token that the cluster accepts.
func (a addonsOutside) Serve(port int, secured bool, register func(grpc.ServiceRegistrar)) (func(), error) {
	var isGood func(string) (bool, error)
	if secured {
		isGood = func(token string) (bool, error) { return a.server().Authenticates(token) }
	}
	_, stop, err := bearer.Serve(port, isGood, register)
	return stop, err
}

// server is the API, which is turned on between two steps of the simulation.
func (a addonsOutside) server() (api *apiserver.Server) {
	a.run.gate.Enter(func() { api = a.API() })
	return api
}

// Left is for how long a caller still waits.
func (addonsOutside) Left(caller context.Context) time.Duration {
	if end, ok := caller.Deadline(); ok {
		return time.Until(end)
	}
	return math.MaxInt64 / 2 // for ever
}

// Dial is a connection to a sidecar.
func (a addonsOutside) Dial(address string, secured bool) (fakecontroller.AddonsConnection, error) {
	var token func() (string, error)
	if secured {
		token = a.managerToken
	}
	return bearer.Dial(a.dial, address, token)
}

// managerToken is a token of the account that a controller manager without one of its own has.
func (a addonsOutside) managerToken() (token string, err error) {
	account := store.Key{Namespace: a.options.AddonsManager.In(), Name: kind.DefaultAccount}
	a.run.gate.Enter(func() {
		var issued *authenticationv1.TokenRequest
		if issued, err = kind.IssueToken(a.World.Store, account, &authenticationv1.TokenRequest{}); err == nil {
			token = issued.Status.Token
		}
	})
	return token, err
}

// freePort returns a free port of loopback.
func freePort() (int, error) {
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return 0, &EnvironmentError{"find a port for a sidecar of CSI-Addons", err}
	}
	port := listener.Addr().(*net.TCPAddr).Port
	if err := listener.Close(); err != nil {
		return 0, fmt.Errorf("leave port %d to a sidecar of CSI-Addons: %w", port, err)
	}
	return port, nil
}
