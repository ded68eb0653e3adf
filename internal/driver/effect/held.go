package effect

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/machine"
)

// ErrHeld is the outcome of a call in which the driver is stopped.
var ErrHeld = errors.New("the driver is held")

// stop stops the called program after a number of changes that the fault sets. Delivering the call
// then returns ErrHeld. After the release, another delivery returns the answer. It returns nil if
// changes are not observed.
func stop(c Call, f *fault.Fault) *machine.Hold {
	program := c.Program()
	if program == nil {
		return nil
	}
	return program.HoldAfter(max(1, f.Changes))
}

// heldAt returns a wrapper: calls of the wrapped client return ErrHeld when the driver is held.
func heldAt(reached <-chan struct{}) func(grpc.ClientConnInterface) grpc.ClientConnInterface {
	h := &held{reached: reached}
	return func(client grpc.ClientConnInterface) grpc.ClientConnInterface {
		if h.ClientConnInterface == nil {
			h.ClientConnInterface = client
		}
		return h
	}
}

// held is a client of a program that is stopped in a call, between two of its changes to files.
type held struct {
	grpc.ClientConnInterface
	reached <-chan struct{} // closed when it is stopped

	start  sync.Once
	done   chan struct{}
	answer proto.Message
	err    error
}

// Invoke makes the call the first time. It returns ErrHeld when the driver is held, or an answer
// that arrives earlier. The second time it waits for the answer of that same call.
func (h *held) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	reached := h.reached
	first := false
	h.start.Do(func() {
		first = true
		h.done, h.answer = make(chan struct{}), Blank(answer.(proto.Message))
		go h.invoke(method, request, opts)
	})
	if !first {
		reached = nil
	}
	select {
	case <-h.done:
		proto.Merge(answer.(proto.Message), h.answer)
		return h.err
	case <-reached:
		return ErrHeld
	case <-ctx.Done():
		return ctx.Err()
	}
}

// invoke makes the call, which outlives its caller.
func (h *held) invoke(method string, request any, opts []grpc.CallOption) {
	defer close(h.done)
	ctx, cancel := context.WithTimeout(context.Background(), heldTime)
	defer cancel()
	h.err = h.ClientConnInterface.Invoke(ctx, method, request, h.answer, opts...)
}

// heldTime bounds, in wall time, how long a driver may be stopped in a call and then work on it.
const heldTime = time.Minute
