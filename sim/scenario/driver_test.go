package scenario

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhereADriverProgramIsLookedFor(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	dir := t.TempDir()
	for _, c := range []struct{ what, program, want string }{
		{"an absolute path stays", "/opt/driver", "/opt/driver"},
		{"./ is relative to the scenario", "./driver", filepath.Join(dir, "driver")},
		{"../ is relative to the scenario", "../driver", filepath.Join(filepath.Dir(dir), "driver")},
		{"another path is relative to the working directory", "testdata/driver", filepath.Join(here, "testdata/driver")},
		{"a bare name in PATH stays", "sh", "sh"},
		{"a bare name that is only here is the file here", "driver_test.go", filepath.Join(here, "driver_test.go")},
		{"a bare name that is nowhere stays", "no-such-driver", "no-such-driver"},
	} {
		assert.Equal(t, []string{c.want, "--flag"}, located([]string{c.program, "--flag"}, dir), c.what)
	}
}
