package sim

import (
	"cmp"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
)

// WithBytes reads the decisions of the run from bytes, as go test -fuzz generates them. Every four
// bytes are one decision that differs from the calm run. Without bytes, the run is calm. Faults of
// the given kinds may happen, by default faults of all kinds. The bytes determine the number of
// faults. The fuzzer finds more if it starts from single faults. The bytes 0, N, 0, M are fault M
// at point N. A plain go test makes these runs, too.
//
//	func FuzzLifecycle(f *testing.F) {
//		for point := range byte(50) {
//			for which := range byte(8) {
//				f.Add([]byte{0, point, 0, which})
//			}
//		}
//		f.Fuzz(func(t *testing.T, data []byte) {
//			c := sim.New(t, sim.WithBytes(data), sim.WithMock(mock.Options{}))
//			…
//		})
//	}
func WithBytes(data []byte, kinds ...fault.Kind) Option {
	if len(kinds) == 0 {
		kinds = fault.Usual()
	}
	strategy := explore.NewBytes(data)
	return func(o *Options) {
		o.Strategy, o.FaultSpace = strategy, fault.Space{Kinds: kinds, Budget: cmp.Or(strategy.Faults(), 1)}
	}
}
