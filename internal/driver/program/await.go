package program

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/grpc"

	"github.com/csisim/csisim/internal/world/machine"
)

// A starting program is polled shortly after its start, in wall time, and then at longer intervals:
// most answer within milliseconds.
const (
	firstPoll  = time.Millisecond
	pollPeriod = 20 * time.Millisecond
)

// lastLook limits, in wall time, the last call of a program that has not answered in time.
const lastLook = time.Second

// await returns when the driver answers, or an error. The error is immediate if the driver will
// never answer, and otherwise follows the start timeout or the end of the caller's context.
func (p *Program) await(caller context.Context, client grpc.ClientConnInterface, process *machine.Process) error {
	ctx, cancel := context.WithCancel(caller)
	defer cancel()
	go func() { // a call must not outlive the program that it waits for
		p.passTimeout(ctx, process)
		cancel()
	}()
	err := p.poll(ctx, caller, client, process)
	if err != nil && caller.Err() != nil {
		return context.Cause(caller)
	}
	return err
}

// startBound bounds the CPU time that a program may use before it answers, as a multiple of the
// start timeout.
const startBound = 6

// passTimeout returns after the start timeout, the end of the program, or the end of ctx. While the
// program works, or waits for a processor or a disk, the timeout runs slower.
func (p *Program) passTimeout(ctx context.Context, process *machine.Process) {
	period := min(100*time.Millisecond, p.spec.StartTimeout/4)
	meter := machine.NewMeter(process, p.spec.StartTimeout, startBound*p.spec.StartTimeout)
	ticker := time.NewTicker(period)
	defer ticker.Stop()
	for spent := time.Duration(0); spent < p.spec.StartTimeout; spent += meter.Spent(period) {
		select {
		case <-process.Done():
			return
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

func (p *Program) poll(ctx, caller context.Context, client grpc.ClientConnInterface, process *machine.Process) error {
	var problem error
	for pause := firstPoll; ; pause = min(2*pause, pollPeriod) {
		final, answer := p.readiness(ctx, client)
		if answer == nil || final {
			return answer
		}
		if !errors.Is(answer, errNoAnswer) || !showsMore(problem) {
			problem = answer
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			return p.giveUp(caller, client, process, problem)
		}
	}
}

// showsMore reports whether the error of an earlier call has more information than the error of the
// last, interrupted one. It has more if a program answered, though not as a driver does.
func showsMore(problem error) bool {
	return errors.Is(problem, ErrNotReady) || errors.Is(problem, ErrNotCSI)
}

// giveUp returns the error of a program that has not answered in time. It calls the program once
// more, because on a suspended computer the whole time may have passed since the last call.
func (p *Program) giveUp(caller context.Context, client grpc.ClientConnInterface, process *machine.Process, problem error) error {
	ctx, cancel := context.WithTimeout(caller, lastLook)
	defer cancel()
	select {
	case <-process.Done():
		return fmt.Errorf("%w before it answered: %s", ErrExited, process.Exit())
	default:
	}
	if _, answer := p.readiness(ctx, client); answer == nil {
		return nil
	}
	return &slowError{problem, p.spec.StartTimeout}
}
