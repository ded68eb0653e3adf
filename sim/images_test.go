package sim_test

import (
	"context"
	"errors"
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/sim"
)

// An error names an image that cannot be unpacked once. If the disk is full or broken, the image is
// not at fault.
func TestAnImageThatCannotBeUnpackedIsAnError(t *testing.T) {
	start := func(err error) error {
		c, failed := sim.Start(sim.Options{WorkDir: t.TempDir(), RootFS: map[string]sim.RootFS{"app": {Unpack: func(context.Context, string) error { return err }}}})
		require.Error(t, failed)
		if c != nil {
			require.NoError(t, c.Close())
		}
		return failed
	}
	var config *sim.ConfigError
	err := start(errors.New("layer 1 leads out"))
	require.ErrorAs(t, err, &config)
	assert.EqualError(t, config, "image app: layer 1 leads out")
	for _, disk := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EIO} {
		var environment *sim.EnvironmentError
		require.ErrorAs(t, start(&fs.PathError{Op: "write", Path: "bin/app", Err: disk}), &environment)
		assert.EqualError(t, environment, "unpack image app: write bin/app: "+disk.Error())
	}
}
