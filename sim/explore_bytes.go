package sim

import (
	"cmp"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
)

// WithBytes makes the decisions of the run from bytes, as go test -fuzz generates them: each four
// bytes are one decision that is not the calm one, and no bytes are the calm run. Faults of the
// kinds may happen, by default all, as many as the bytes say. The fuzzer finds more if it starts
// from single faults: 0, a number, 0, another number is one of the faults at the point of that
// number. A plain go test makes these runs, too.
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
