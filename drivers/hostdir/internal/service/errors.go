//go:build linux

package service

import (
	"errors"

	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/loop"
)

// Answer converts an error of the backend or the machine to the code that the CSI specification
// requires.
func Answer(err error) error {
	if _, ok := status.FromError(err); ok { // err is nil or already has a code
		return err
	}
	return status.Error(codeOf(err), err.Error())
}

func codeOf(err error) codes.Code {
	switch {
	case errors.Is(err, backend.ErrNotFound):
		return codes.NotFound
	case errors.Is(err, backend.ErrIncompatible):
		return codes.AlreadyExists
	case errors.Is(err, backend.ErrInUse):
		return codes.FailedPrecondition
	case errors.Is(err, backend.ErrPending):
		return codes.Aborted
	case errors.Is(err, backend.ErrOutOfRange):
		return codes.OutOfRange
	case errors.Is(err, backend.ErrUnsuitable):
		return codes.InvalidArgument
	case errors.Is(err, backend.ErrExhausted), errors.Is(err, unix.ENOSPC), errors.Is(err, loop.ErrNone):
		return codes.ResourceExhausted
	default:
		return codes.Internal
	}
}

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

func precondition(format string, args ...any) error {
	return status.Errorf(codes.FailedPrecondition, format, args...)
}

func conflict(format string, args ...any) error {
	return status.Errorf(codes.AlreadyExists, format, args...)
}

func unimplemented(option string) error {
	return status.Errorf(codes.Unimplemented, "switched off by %s", option)
}

// require rejects a request that lacks a required field. The fields are given as alternating names
// and values.
func require(fields ...string) error {
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i+1] == "" {
			return invalid("%s is required", fields[i])
		}
	}
	return nil
}
