package resizer

import (
	"errors"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// codeOf returns the code of a driver's answer, and false for an error without an answer.
func codeOf(err error) (codes.Code, bool) {
	var s interface{ GRPCStatus() *status.Status }
	if !errors.As(err, &s) {
		return codes.OK, false
	}
	return s.GRPCStatus().Code(), true
}

// isFinal reports whether the driver does nothing more after an error. C-LIB-9
func isFinal(err error) bool {
	code, ok := codeOf(err)
	if !ok {
		return false
	}
	switch code {
	case codes.Canceled, codes.DeadlineExceeded, codes.Unavailable, codes.ResourceExhausted, codes.Aborted:
		return false
	}
	return true
}

// isInfeasible: the driver cannot provide the request. C-RES-20
func isInfeasible(err error) bool {
	code, ok := codeOf(err)
	return ok && (code == codes.InvalidArgument || code == codes.OutOfRange || code == codes.NotFound)
}
