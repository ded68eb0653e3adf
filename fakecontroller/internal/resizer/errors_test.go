package resizer

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// C-LIB-9: after these codes, and after errors from outside the driver, the driver may still be
// working.
func TestErrorsAfterWhichTheDriverMayStillWork(t *testing.T) {
	goesOn := map[codes.Code]bool{
		codes.Canceled: true, codes.DeadlineExceeded: true, codes.Unavailable: true, codes.Aborted: true, codes.ResourceExhausted: true,
	}
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		err := fmt.Errorf("expand: %w", status.Error(code, "no"))
		assert.Equal(t, !goesOn[code], isFinal(err), "%v", code)
	}
	assert.False(t, isFinal(errors.New("no answer")))
}
