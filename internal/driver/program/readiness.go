package program

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/driver/wire"
)

// readiness returns nil if the driver serves. final means that waiting longer will not help.
func (p *Program) readiness(ctx context.Context, client grpc.ClientConnInterface) (final bool, problem error) {
	if err := p.checkSocket(p.spec.Socket, "{{.Endpoint}} or {{.Socket}}"); err != nil {
		return false, err
	}
	identity := csi.NewIdentityClient(client)
	var trailer metadata.MD // only a gRPC server sends a trailer
	probe, err := identity.Probe(ctx, &csi.ProbeRequest{}, grpc.Trailer(&trailer))
	if err != nil {
		return p.judge("Identity/Probe", err, len(trailer) > 0)
	}
	if ready := probe.GetReady(); ready != nil && !ready.GetValue() {
		return false, fmt.Errorf("%w: Identity/Probe answers ready=false", ErrNotReady)
	}
	info, err := identity.GetPluginInfo(ctx, &csi.GetPluginInfoRequest{}, grpc.Trailer(&trailer))
	if err != nil {
		return p.judge("Identity/GetPluginInfo", err, len(trailer) > 0)
	}
	if p.spec.Driver != "" && info.GetName() != p.spec.Driver {
		return true, fmt.Errorf("%w: it says its name is %q and %q is configured: correct one of the two",
			ErrWrongDriver, info.GetName(), p.spec.Driver)
	}
	if p.spec.AddonsSocket == "" || p.spec.AddonsSocket == p.spec.Socket {
		return false, nil
	}
	return false, p.checkSocket(p.spec.AddonsSocket, "{{.AddonsEndpoint}} or {{.AddonsSocket}}")
}

// checkSocket looks for a socket that the program serves, if its command refers to the fields.
func (p *Program) checkSocket(path, fields string) error {
	socket := p.machine.ProgramPath(path)
	info, err := p.machine.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: there is no %s: does the command hand %s to the driver?", ErrNotListening, socket, fields)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrNotListening, err)
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("%w: %s is no socket", ErrNotListening, socket)
	}
	return nil
}

// errNoAnswer says that a call was cut off by the start timeout.
var errNoAnswer = errors.New("no answer")

// judge classifies a failed call. answered means that a gRPC server returned the error, not the
// connection.
func (p *Program) judge(method string, err error, answered bool) (final bool, problem error) {
	socket := p.machine.ProgramPath(p.spec.Socket)
	switch code := status.Code(err); {
	case answered && code == codes.Unimplemented:
		return true, fmt.Errorf("%w: %s: it has no %s: %w", ErrNotCSI, socket, method, err)
	case answered:
		return false, fmt.Errorf("%w: %s: %w", ErrNotReady, method, err)
	case code == codes.DeadlineExceeded, code == codes.Canceled:
		return false, fmt.Errorf("%w: %s: %w to %s", ErrNotCSI, socket, errNoAnswer, method)
	case wire.NobodyListens(err) && strings.Contains(err.Error(), "while dialing"):
		return false, fmt.Errorf("%w: %s: %w", ErrNotListening, socket, err)
	default:
		return false, fmt.Errorf("%w: %s: %w", ErrNotCSI, socket, err)
	}
}
