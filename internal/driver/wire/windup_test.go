package wire

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// busyFor answers ABORTED a number of times.
type busyFor struct {
	grpc.ClientConnInterface
	times, asked int
}

func (b *busyFor) Invoke(context.Context, string, any, any, ...grpc.CallOption) error {
	if b.asked++; b.asked <= b.times {
		return status.Error(codes.Aborted, "an operation is pending")
	}
	return nil
}

func TestAnUnfinishedCallIsRepeatedForAWhile(t *testing.T) {
	soon := &busyFor{times: 2}
	assert.NoError(t, retryingAborted{soon, time.Now().Add(time.Minute)}.Invoke(t.Context(), "m", nil, nil))
	assert.Equal(t, 3, soon.asked)
	never := &busyFor{times: 1000}
	assert.Equal(t, codes.Aborted, status.Code(retryingAborted{never, time.Now().Add(busyPause)}.Invoke(t.Context(), "m", nil, nil)))
	assert.LessOrEqual(t, never.asked, 3)
	over := &busyFor{times: 1000}
	assert.Equal(t, codes.Aborted, status.Code(retryingAborted{over, time.Now()}.Invoke(t.Context(), "m", nil, nil)), "as before, when its time is over")
	assert.Equal(t, 1, over.asked)
}
