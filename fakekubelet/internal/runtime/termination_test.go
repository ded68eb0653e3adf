package runtime

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// kubelet: getTerminationMessage and readLastStringFromContainerLogs, with the limits
// MaxContainerTerminationMessageLength, -LogLength and -LogLines.
func TestTheTerminationMessageOfAContainer(t *testing.T) {
	const fallback = corev1.TerminationMessageFallbackToLogsOnError
	long := strings.Repeat("x", 5000) + "end\n"
	for name, tt := range map[string]struct {
		policy           corev1.TerminationMessagePolicy
		code             int32
		termination, log string
		noFile           bool // a program without a root file system
		want             string
	}{
		"its termination log":             {fallback, 1, "enough\n", "log\n", false, "enough\n"},
		"the end of a long one":           {fallback, 1, long, "log\n", false, long[len(long)-4096:]},
		"its log after an error":          {fallback, 1, "", "log\n", false, "log\n"},
		"its log without a file":          {fallback, 1, "", "log\n", true, "log\n"},
		"nothing without an error":        {fallback, 0, "", "log\n", true, ""},
		"nothing by the default policy":   {corev1.TerminationMessageReadFile, 1, "", "log\n", true, ""},
		"the end of a long log":           {fallback, 1, "", long, false, long[len(long)-2048:]},
		"the last lines of a log":         {fallback, 1, "", strings.Repeat("a\n", 100), false, strings.Repeat("a\n", 80)},
		"a last line that does not end":   {fallback, 1, "", strings.Repeat("a\n", 100) + "b", false, strings.Repeat("a\n", 79) + "b"},
		"nothing of a container that did": {fallback, 1, "", "", false, ""},
	} {
		m := machine.NewMemory("node-1")
		i := &Instance{Code: tt.code, Log: filepath.Join(t.TempDir(), "log")}
		require.NoError(t, os.WriteFile(i.Log, []byte(tt.log), 0o600))
		if !tt.noFile {
			i.termination = machine.KubeletDir + "/termination"
			require.NoError(t, m.MkdirAll(machine.KubeletDir, 0o755))
			require.NoError(t, m.WriteFile(i.termination, []byte(tt.termination), 0o666))
		}
		c := &Program{runtime: &Runtime{options: Options{Machine: m}}, spec: &corev1.Container{TerminationMessagePolicy: tt.policy}}
		assert.Equal(t, tt.want, c.message(i), name)
	}
}
