package namespaces

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Interrupted is the cause of the end of a context that a signal has ended.
type Interrupted struct{ Signal syscall.Signal }

func (i *Interrupted) Error() string { return "interrupted: " + i.Signal.String() }

// Is makes it a context.Canceled.
func (*Interrupted) Is(target error) bool { return target == context.Canceled }

// Interruptible is a context that ends with the first SIGINT or SIGTERM; the second one
// kills, as it does any program.
func Interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, end := context.WithCancelCause(parent)
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	go func() {
		defer signal.Stop(received)
		select {
		case s := <-received:
			end(&Interrupted{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { end(context.Canceled) }
}

// InterruptedCode is the exit code of a program that ended with a context: 130 after SIGINT,
// as a shell has it, 143 after SIGTERM.
func InterruptedCode(ctx context.Context) int { return 128 + int(signalOf(ctx)) }

// signalOf is the signal that has ended a context, SIGINT if it was none.
func signalOf(ctx context.Context) syscall.Signal {
	var interrupted *Interrupted
	if errors.As(context.Cause(ctx), &interrupted) {
		return interrupted.Signal
	}
	return syscall.SIGINT
}
