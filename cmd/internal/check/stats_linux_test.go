package check_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/cmd/internal/check"
)

// Given a volume and a root directory on different file systems, when NodeGetVolumeStats describes
// the file system of the root directory, then the verdict states this.
func TestStatisticsOfAnotherFileSystemAreFound(t *testing.T) {
	dir := workDir(t)
	var fs unix.Statfs_t
	require.NoError(t, unix.Statfs(dir, &fs))
	if fs.Type == unix.TMPFS_MAGIC {
		t.Skip("the root directory of a node and the work directory are both tmpfs, of the same size")
	}
	program := buildHostdir(t)
	for defect, want := range map[string]string{"": "", "stats-of-root": "as of a file system around the mounted one"} {
		found := verdicts(checked(t, hostdir(program, defect), check.RunOptions{WorkDir: dir}, "life/measured"))
		assert.Equal(t, want == "", found == "", found)
		assert.Contains(t, found, want)
	}
}
