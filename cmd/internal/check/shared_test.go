package check_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/drivers/mock"
)

// If a driver's volumes belong to one run, each run has the same ids. These do not count as shared
// objects.
func TestTrialsWithSeparateBackendsAreNotDisturbed(t *testing.T) {
	for name, options := range map[string]mock.Options{
		"that lists": {ListVolumes: true, ListVolumesPublishedNodes: true, Snapshot: true},
		"that leaks": {ListVolumes: true, Faulty: []string{"delete-leaks", "create-not-idempotent"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, trials := planned(t, mocked(options), check.RunOptions{})
			_, err := check.Run(context.Background(), trials, check.RunOptions{
				Parallel: 4, Names: "x", Disturbed: func(s *check.Shared) { t.Error(s) },
			})
			require.NoError(t, err)
		})
	}
}
