package runtime

import (
	"bytes"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// Limits of a termination message, in bytes, and of a log that replaces it, in bytes and lines.
const (
	maxMessage  = 4096
	maxLog      = 2048
	maxLogLines = 80
)

// message returns the container's termination message, like the kubelet's getTerminationMessage:
// the end of its termination log or, if the policy permits it, the end of its output.
func (c *Program) message(i *Instance) string {
	if i.termination != "" {
		text, err := c.runtime.options.Machine.ReadEnd(i.termination, maxMessage)
		if err == nil && len(text) > 0 {
			return string(text)
		}
	}
	if c.spec.TerminationMessagePolicy != corev1.TerminationMessageFallbackToLogsOnError || i.Code == 0 {
		return ""
	}
	return logEnd(i.Log)
}

// logEnd returns the end of a log; empty if it cannot be read.
func logEnd(log string) string {
	text, err := machine.ReadEnd(log, maxLog)
	if err != nil {
		return ""
	}
	lines := slices.Collect(bytes.Lines(text))
	return string(bytes.Join(lines[max(0, len(lines)-maxLogLines):], nil))
}
