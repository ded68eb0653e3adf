package pluginmanager

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/csisim/csisim/internal/driver/wire"
)

// errUnheard means that no server listens at a socket.
var errUnheard = errors.New("nobody listens")

func dialFailed(socket string, err error) error {
	return fmt.Errorf("RegisterPlugin error -- dial failed at socket %s, err: %w", socket, err)
}

// The pauses between the dials of a gRPC client that waits: 1 s, 1.6 s, 2.56 s, ...
const (
	firstPause       = time.Second
	pauseNumerator   = 8
	pauseDenominator = 5
)

// getInfo is the first call. If no server listens, it retries until the dial's deadline. The socket
// may be replaced meanwhile. K-REG-8
func (r *registrar) getInfo() (*registration.PluginInfo, error) {
	r.dialling[r.socket] = r.process
	defer delete(r.dialling, r.socket)
	limit := r.process.Elapsed() + dialTimeout
	info := &registration.PluginInfo{}
	event := r.begin("Registration/GetInfo", &registration.InfoRequest{})
	for pause := firstPause; ; pause = pause * pauseNumerator / pauseDenominator {
		r.deadline = r.process.Elapsed() + infoTimeout
		err := r.exchange(registration.Registration_GetInfo_FullMethodName, event.Request, info)
		if wire.NobodyListens(err) && r.pause(pause, limit) {
			continue
		}
		if wire.NobodyListens(err) {
			err = status.Error(codes.DeadlineExceeded, dialFailed(r.socket, context.DeadlineExceeded).Error())
			r.end(event, nil, err)
			return nil, fmt.Errorf("%w: %w", errUnheard, err)
		}
		r.end(event, info, err)
		return info, err
	}
}

// pause waits before the next dial; false if the dial's deadline is earlier. It counts as
// outstanding work only if the socket was created again.
func (r *registrar) pause(d, limit time.Duration) bool {
	next := r.process.Elapsed() + d
	until := min(next, limit)
	for r.process.Elapsed() < until {
		wait := r.process.IdleUntil
		if r.desired[r.socket] != r.created {
			wait = r.process.ParkUntil
		}
		wait("a listener at "+r.socket, until)
	}
	return next < limit
}
