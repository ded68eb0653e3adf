//go:build linux

package placement_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
)

// If an unpublish removes a record after the directory was listed, All ignores the record. A
// dangling symlink represents this record.
func TestARecordThatIsRemovedMeanwhileIsIgnored(t *testing.T) {
	dir := t.TempDir()
	ledger, err := placement.Open(dir, false)
	require.NoError(t, err)
	left := placement.Placement{VolumeID: "v", Path: "/target", Target: true, Mode: "SINGLE_NODE_WRITER"}
	require.NoError(t, ledger.Put(left))
	require.NoError(t, os.Symlink(filepath.Join(dir, "gone"), filepath.Join(dir, "0.json")))
	all, err := ledger.All()
	require.NoError(t, err)
	assert.Equal(t, []placement.Placement{left}, all)
}
