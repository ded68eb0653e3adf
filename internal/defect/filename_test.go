package defect_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/defect"
)

func TestDefectsThatAreNamedAlikeHaveFilesOfTheirOwn(t *testing.T) {
	assert.Equal(t, "createvolume-is-not-idempotent-volume-then-8618ff", defect.FileName("CreateVolume is not idempotent: volume … then …"))
	assert.Equal(t, "createvolume-is-not-idempotent-volume-then-753a93", defect.FileName("CreateVolume is not idempotent: volume …, then …"))
	long := "NodeUnpublishVolume fails for good: Internal: the target path is mounted "
	assert.Equal(t, defect.FileName(long + "twice")[:60], defect.FileName(long + "by another")[:60])
	assert.NotEqual(t, defect.FileName(long+"twice"), defect.FileName(long+"by another"))
}
