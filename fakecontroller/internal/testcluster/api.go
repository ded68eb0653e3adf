// Package testcluster is the environment of a controller's test: an API and, if wanted, the
// controller plugin of a mock driver. The test plays all other components.
package testcluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// API is the environment of one test: an API server, and the components that the test starts.
type API struct {
	*component.World
	T testing.TB
}

// NewAPI makes an API. A nil strategy means the calm one.
func NewAPI(t testing.TB, strategy kernel.Strategy, options ...kind.Option) *API {
	return NewAPIWith(t, kernel.Options{Strategy: strategy}, store.Options{Guard: true}, options...)
}

// NewAPIWith makes an API with other options for the kernel and the store. The store uses the
// kernel's clock.
func NewAPIWith(t testing.TB, ko kernel.Options, so store.Options, options ...kind.Option) *API {
	k := kernel.New(ko)
	so.Now = k.Now
	s := kind.NewStore(so, options...)
	t.Cleanup(func() {
		k.Close()
		if so.Guard {
			require.NoError(t, s.VerifyImmutable())
		}
	})
	return &API{component.NewWorld(k, s, trace.NewRecorder(k)), t}
}

// Run advances virtual time.
func (a *API) Run(d time.Duration) {
	a.T.Helper()
	a.At(a.Kernel.Elapsed() + d)
}

// At runs until a virtual time.
func (a *API) At(when time.Duration) {
	a.T.Helper()
	a.Kernel.Run(kernel.Until{At: when})
	require.NoError(a.T, a.Kernel.Err())
}

func (a *API) api() *API { return a }

// world is an API, or a type that embeds one.
type world interface{ api() *API }
