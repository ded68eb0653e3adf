package csi

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/version"
)

// UncertainError means that the operation may still be in progress in the driver, or may have
// happened. K-RPC-8
type UncertainError struct{ error }

// TransientError means that the operation did not reach the driver and will be
// tried again without any change of state. K-RPC-9
type TransientError struct{ error }

// IsUncertain and IsTransient test the error itself, not the errors that it wraps: an uncertain
// error that is wrapped by another counts as final. K-RPC-9
func IsUncertain(err error) bool { _, ok := err.(UncertainError); return ok }

// IsTransient reports a TransientError; see IsUncertain.
func IsTransient(err error) bool { _, ok := err.(TransientError); return ok }

// IsFinal reports an error after which nothing has happened that needs undoing.
func IsFinal(err error) bool { return err != nil && !IsUncertain(err) && !IsTransient(err) }

// classified is classified, but for a kubelet to which no answer was an error like
// any other.
func (s *step) classified(err error) error {
	if !s.kubelet.Version.Has(version.UncertainMounts) {
		return err
	}
	return classified(err)
}

// classified marks an answer that does not say whether the operation happened. K-RPC-7, K-RPC-8
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
