package machine_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/sim/machine"
)

func TestTheStartOfADeviceIsReadAndWritten(t *testing.T) {
	onEach(t, func(t *testing.T, m machine.Machine) {
		d := m.(machine.Devices)
		_, err := d.ReadStart("/image", 4)
		assert.True(t, errors.Is(err, fs.ErrNotExist), "%v", err)
		require.Error(t, d.WriteStart("/image", []byte("x")), "it makes no file")
		require.NoError(t, m.WriteFile("/image", []byte("0123456789"), 0o644))
		require.NoError(t, d.WriteStart("/image", []byte("ab")))
		for n, want := range map[int]string{0: "", 4: "ab23", 10: "ab23456789", 99: "ab23456789"} {
			data, err := d.ReadStart("/image", n)
			require.NoError(t, err)
			assert.Equal(t, want, string(data))
		}
		require.NoError(t, d.WriteStart("/image", []byte(strings.Repeat("c", 12))))
		data, err := m.ReadFile("/image")
		require.NoError(t, err)
		assert.Equal(t, strings.Repeat("c", 12), string(data))
	})
}
