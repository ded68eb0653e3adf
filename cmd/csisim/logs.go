package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// keptLogs is where the driver logs of one scenario are kept: beside the
// directories of runs, out of reach of clean.
func keptLogs(workDir string, s *scenario.Scenario) string {
	return filepath.Join(keptLogsOfAll(workDir), scenarioBase(s))
}

// keptLogsOfAll is where the driver logs of all scenarios are kept.
func keptLogsOfAll(workDir string) string {
	if workDir == "" {
		workDir = os.TempDir()
	}
	return filepath.Join(workDir, fmt.Sprintf("csisim-logs-%d", namespaces.PID()))
}

// withLogs is the directory if there are logs in it; one without is removed.
func withLogs(dir string) string {
	if dir == "" {
		return ""
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	if len(entries) > 0 {
		return dir
	}
	if os.Remove(dir) == nil {
		_ = os.Remove(filepath.Dir(dir)) // stays if other scenarios have logs in it
	}
	return ""
}
