package namespaces

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"
)

// Interrupted is the cause of a context that a signal has ended.
type Interrupted struct{ Signal syscall.Signal }

func (i *Interrupted) Error() string { return "interrupted: " + i.Signal.String() }

// Is makes it a context.Canceled.
func (*Interrupted) Is(target error) bool { return target == context.Canceled }

// Interruptible returns a context that ends with the first SIGINT, SIGTERM or SIGHUP; the second
// one kills the process as usual. A SIGHUP that the parent ignores, as nohup(1) does, stays
// ignored.
func Interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, end := context.WithCancelCause(parent)
	received := make(chan os.Signal, 1)
	signal.Notify(received, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		signal.Notify(received, syscall.SIGHUP)
	}
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

// InterruptedCode returns the exit code of a program that ended with a context: 130 after SIGINT,
// as in a shell, 143 after SIGTERM, 129 after SIGHUP.
func InterruptedCode(ctx context.Context) int { return 128 + int(signalOf(ctx)) }

// signalOf returns the signal that has ended a context, SIGINT by default.
func signalOf(ctx context.Context) syscall.Signal {
	var interrupted *Interrupted
	if errors.As(context.Cause(ctx), &interrupted) {
		return interrupted.Signal
	}
	return syscall.SIGINT
}
