package verdict_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/verdict"
)

func TestDefectsWithSimilarNamesHaveSeparateFiles(t *testing.T) {
	assert.Equal(t, "createvolume-is-not-idempotent-volume-then-8618ff", verdict.FileName("CreateVolume is not idempotent: volume … then …"))
	assert.Equal(t, "createvolume-is-not-idempotent-volume-then-753a93", verdict.FileName("CreateVolume is not idempotent: volume …, then …"))
	long := "NodeUnpublishVolume fails for good: Internal: the target path is mounted "
	assert.Equal(t, verdict.FileName(long + "twice")[:60], verdict.FileName(long + "by another")[:60])
	assert.NotEqual(t, verdict.FileName(long+"twice"), verdict.FileName(long+"by another"))
}
