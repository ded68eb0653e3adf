package csi

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestCodesThatLeaveTheOutcomeOpen(t *testing.T) { // K-RPC-7, K-RPC-8, fact 56
	uncertain := map[codes.Code]bool{
		codes.Canceled: true, codes.DeadlineExceeded: true, codes.Unavailable: true, codes.ResourceExhausted: true, codes.Aborted: true,
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		err := classified(status.Error(code, "no"))
		assert.Equal(t, uncertain[code], IsUncertain(err), code)
		assert.Equal(t, !uncertain[code], IsFinal(err), code)
		assert.Equal(t, "rpc error: code = "+code.String()+" desc = no", err.Error(), "the text stays")
	}
	assert.NoError(t, classified(nil))
	assert.True(t, IsUncertain(classified(errors.New("no status"))))
}

func TestTheClassOfAnErrorIsThatOfTheErrorItself(t *testing.T) { // K-RPC-9
	cause := errors.New("cause")
	for _, c := range []struct {
		err                         error
		uncertain, transient, final bool
	}{
		{nil, false, false, false},
		{cause, false, false, true},
		{UncertainError{cause}, true, false, false},
		{TransientError{cause}, false, true, false},
		{fmt.Errorf("while probing: %w", UncertainError{cause}), false, false, true},
		{fmt.Errorf("while probing: %w", TransientError{cause}), false, false, true},
		{TransientError{fmt.Errorf("while probing: %w", UncertainError{cause})}, false, true, false},
	} {
		assert.Equal(t, c.uncertain, IsUncertain(c.err), "%#v", c.err)
		assert.Equal(t, c.transient, IsTransient(c.err), "%#v", c.err)
		assert.Equal(t, c.final, IsFinal(c.err), "%#v", c.err)
	}
}
