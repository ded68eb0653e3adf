package wire

import (
	"context"
	"errors"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// errHeld is the outcome of a call in which the driver is stopped.
var errHeld = errors.New("the driver is held")

// held is a client of a program that stops in a call, between two of the changes that it makes
// to files.
type held struct {
	grpc.ClientConnInterface
	reached <-chan struct{} // closed when it stands still

	start  sync.Once
	done   chan struct{}
	answer proto.Message
	err    error
}

// Invoke makes the call the first time; it returns errHeld when the driver is held, and the
// answer if there is one before. The second time it waits for the answer of that same call.
func (h *held) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	reached := h.reached
	first := false
	h.start.Do(func() {
		first = true
		h.done, h.answer = make(chan struct{}), blank(answer.(proto.Message))
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
		return errHeld
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

// heldTime bounds, in wall time, how long a driver may be held in a call and work on it then.
const heldTime = time.Minute
