package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// keptLogs returns the directory that keeps the driver logs of one scenario. It is next to the
// directories of runs, and clean does not remove it.
func keptLogs(workDir string, s *scenario.Scenario) string {
	return filepath.Join(keptLogsOfAll(workDir), scenarioBase(s))
}

// keptLogsOfAll returns the directory that keeps the driver logs of all scenarios.
func keptLogsOfAll(workDir string) string {
	if workDir == "" {
		workDir = os.TempDir()
	}
	return filepath.Join(workDir, fmt.Sprintf("csisim-logs-%d", namespaces.PID()))
}

// withLogs returns the directory if it contains logs, and removes it otherwise.
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
		_ = os.Remove(filepath.Dir(dir)) // unless it has logs of other scenarios
	}
	return ""
}
