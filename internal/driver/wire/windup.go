package wire

import (
	"context"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/judge/contract"
)

const (
	// busy is the wall time for which the program may answer that it has not finished. On a busy
	// computer an unmount takes seconds.
	busy = 6 * time.Second
	// busyPause is the wall time between two such attempts.
	busyPause = 20 * time.Millisecond
)

// windUps lists the volumes for which a program may still be busy with a call after its deadline
// has passed.
type windUps map[string]time.Time // the end of that time, by driver and volume

func (u windUps) begin(c *call) {
	u[c.site.Driver+" "+contract.VolumeOf(c.request)] = time.Now().Add(busy)
}

func (u windUps) of(c *call) (until time.Time, ok bool) {
	if len(u) == 0 {
		return until, false
	}
	until, ok = u[c.site.Driver+" "+contract.VolumeOf(c.request)]
	return until, ok
}

// retryingAborted is a client of a program that may be busy until some time. Its callers retry
// soon, which takes no wall time here. While the program answers ABORTED, the client repeats the
// call until that time.
type retryingAborted struct {
	grpc.ClientConnInterface
	until time.Time
}

// Invoke makes a call.
func (r retryingAborted) Invoke(ctx context.Context, method string, request, answer any, opts ...grpc.CallOption) error {
	for {
		err := r.ClientConnInterface.Invoke(ctx, method, request, answer, opts...)
		if status.Code(err) != codes.Aborted || ctx.Err() != nil || time.Now().After(r.until) {
			return err
		}
		time.Sleep(busyPause)
	}
}
