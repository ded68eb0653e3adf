package wire

import (
	"context"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// InProcess reports whether the servers of a machine are Go code of this process, which runs while
// the kernel is stopped.
func InProcess(m machine.Machine) bool {
	_, ok := m.(*machine.Memory)
	return ok
}

// Exchange makes one unary call to a server on a machine. It yields until the answer has arrived,
// or until the deadline in virtual time since the start of the run. The error is a gRPC status. An
// answer after the deadline is dropped.
func Exchange(p *kernel.Process, m machine.Machine, client grpc.ClientConnInterface, about kernel.Matter, fullMethod string, request, answer proto.Message, deadline time.Duration) error {
	if effect.IsPrompt(client) && deadline > p.Elapsed()+about.Latency {
		p.Sleep(about.Latency)
		return client.Invoke(context.Background(), fullMethod, request, answer)
	}
	ctx, cancel := context.WithTimeout(context.Background(), deadline-p.Elapsed())
	defer cancel()
	arriving := answer.ProtoReflect().New().Interface()
	var failure error
	run := func() { failure = client.Invoke(ctx, fullMethod, request, arriving) }
	answered := false
	if InProcess(m) {
		answered = p.FlyAlone(shortMethod(fullMethod), deadline, run, cancel)
	} else {
		answered = p.Fly(shortMethod(fullMethod), about, deadline, run, cancel)
	}
	if !answered {
		return effect.ErrDeadline
	}
	if failure != nil {
		return failure
	}
	proto.Merge(answer, arriving)
	return nil
}

// NobodyListens distinguishes a call that found no server at its socket from a call that failed.
func NobodyListens(err error) bool {
	s, ok := status.FromError(err)
	return ok && s.Code() == codes.Unavailable && strings.HasPrefix(s.Message(), "connection error")
}
