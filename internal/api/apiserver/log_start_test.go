package apiserver

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A log is read from its end, block by block. [k8s.io/cri-client/pkg/logs/tail.go:
// findTailLineStartIndex]
func TestTheTailOfALogBeginsAtALine(t *testing.T) {
	long := strings.Repeat("x", tailBlock-3) + "\n"
	for _, log := range []string{"", "\n", "a", "a\n", "a\nb", "a\nb\n", "\n\n\n", long, long + "b\nc\n", long + long + long, "a\n" + long + "bc"} {
		for lines := range 5 {
			all := strings.SplitAfter(log, "\n")
			if all[len(all)-1] == "" {
				all = all[:len(all)-1]
			}
			want := strings.Join(all[max(0, len(all)-lines):], "")
			start, err := tailStart(strings.NewReader(log), int64(len(log)), int64(lines))
			require.NoError(t, err)
			assert.Equal(t, len(want), len(log)-int(start), "%d lines of %.20q", lines, log)
		}
	}
}
