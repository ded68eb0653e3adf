package csi

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/version"
)

// UncertainError means that the driver may still execute the operation, or may have executed it.
// K-RPC-8
type UncertainError struct{ error }

// TransientError means that the operation did not reach the driver and will be retried without any
// change of state. K-RPC-9
type TransientError struct{ error }

// IsUncertain and IsTransient test the error itself, not the errors that it wraps. A wrapped
// uncertain error counts as final. K-RPC-9
func IsUncertain(err error) bool { _, ok := err.(UncertainError); return ok }

// IsTransient reports a TransientError; see IsUncertain.
func IsTransient(err error) bool { _, ok := err.(TransientError); return ok }

// IsFinal reports whether the failed operation has no effect that must be undone.
func IsFinal(err error) bool { return err != nil && !IsUncertain(err) && !IsTransient(err) }

// classified classifies an error. An old kubelet treated a missing answer like any other error.
func (s *step) classified(err error) error {
	if !s.kubelet.Version.Has(version.UncertainMounts) {
		return err
	}
	return classified(err)
}

// classified marks an answer that leaves open whether the operation happened. K-RPC-7, K-RPC-8
func classified(err error) error {
	if err == nil {
		return nil
	}
	s, isStatus := status.FromError(err)
	if !isStatus {
		return UncertainError{err}
	}
	switch s.Code() {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.ResourceExhausted, codes.Aborted:
		return UncertainError{err}
	}
	return err
}
