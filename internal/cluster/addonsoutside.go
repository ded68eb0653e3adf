package cluster

import (
	"context"
	"math"
	"time"

	"google.golang.org/grpc"
	authenticationv1 "k8s.io/api/authentication/v1"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/bearer"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
)

// AddonsOutside connects the simulated programs of CSI-Addons with external ones. The simulated
// programs are on loopback.
type AddonsOutside struct {
	Gate  *Gate
	API   func() *apiserver.Server
	Store *store.Store
	// Manager is the namespace of the controller manager.
	Manager string
	// DialTo connects with an address of the cluster.
	DialTo machine.Dial
}

// Serve serves clients with a token that the cluster accepts.
func (a AddonsOutside) Serve(port int, secured bool, register func(grpc.ServiceRegistrar)) (func(), error) {
	var isGood func(string) (bool, error)
	if secured {
		isGood = func(token string) (bool, error) { return a.server().Authenticates(token) }
	}
	_, stop, err := bearer.Serve(port, isGood, register)
	return stop, err
}

// server returns the API. The first call starts the API between two steps of the simulation.
func (a AddonsOutside) server() (api *apiserver.Server) {
	a.Gate.Enter(func() { api = a.API() })
	return api
}

// Left returns the time for which a caller will still wait.
func (AddonsOutside) Left(caller context.Context) time.Duration {
	if end, ok := caller.Deadline(); ok {
		return time.Until(end)
	}
	return math.MaxInt64 / 2 // no deadline
}

// Dial returns a connection to a sidecar.
func (a AddonsOutside) Dial(address string, secured bool) (fakecontroller.AddonsConnection, error) {
	var token func() (string, error)
	if secured {
		token = a.managerToken
	}
	return bearer.Dial(a.DialTo, address, token)
}

// managerToken returns a token of the default account of a controller manager.
func (a AddonsOutside) managerToken() (token string, err error) {
	account := store.Key{Namespace: a.Manager, Name: kind.DefaultAccount}
	a.Gate.Enter(func() {
		var issued *authenticationv1.TokenRequest
		if issued, err = kind.IssueToken(a.Store, account, &authenticationv1.TokenRequest{}); err == nil {
			token = issued.Status.Token
		}
	})
	return token, err
}
