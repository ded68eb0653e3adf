package wire

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/driver/effect"
)

// exitingProgram is a client of a program that may end in a call.
type exitingProgram struct {
	grpc.ClientConnInterface
	ended <-chan struct{}
}

// endTime bounds the wall time in which a program may exit after it broke the connection. Most have
// already exited: the connection breaks because they exit.
const endTime = time.Second

// Invoke makes a call. If the connection breaks, it returns after the program has exited, so that
// the exit is recorded before the caller continues.
func (e exitingProgram) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	err := e.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
	if !isBroken(err) {
		return err
	}
	select {
	case <-e.ended:
		return effect.ErrConnectionLost
	case <-ctx.Done():
	case <-time.After(endTime):
	}
	return err
}

// isBroken distinguishes the end of a connection during a call from an answer Unavailable and from
// a missing listener.
func isBroken(err error) bool {
	if status.Code(err) != codes.Unavailable || NobodyListens(err) {
		return false
	}
	text := status.Convert(err).Message()
	for _, end := range []string{"error reading from server", "connection reset", "broken pipe", "EOF", "transport is closing"} {
		if strings.Contains(text, end) {
			return true
		}
	}
	return false
}
