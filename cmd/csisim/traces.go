package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// traceFiles maps scenarios to their trace files. A single scenario gets the file wanted. Several
// scenarios get one file each, in the directory wanted or with the scenario's name as a prefix of
// wanted. The map is empty if wanted is empty.
func traceFiles(wanted, extension string, scenarios []*scenario.Scenario) map[string]string {
	files := map[string]string{}
	if wanted == "" {
		return files
	}
	taken := map[string]bool{}
	for _, s := range scenarios {
		name := scenarioBase(s)
		if taken[name] { // two files of that name in different directories
			name = strings.ReplaceAll(strings.TrimSuffix(filepath.ToSlash(s.File), filepath.Ext(s.File)), "/", "-")
		}
		taken[name] = true
		switch {
		case isDirectory(wanted):
			files[s.File] = filepath.Join(wanted, name+extension)
		case len(scenarios) > 1:
			files[s.File] = filepath.Join(filepath.Dir(wanted), name+"-"+filepath.Base(wanted))
		default:
			files[s.File] = wanted
		}
	}
	return files
}

// scenarioBase returns the name of the scenario's file without extension.
func scenarioBase(s *scenario.Scenario) string {
	return strings.TrimSuffix(filepath.Base(s.File), filepath.Ext(s.File))
}

func isDirectory(name string) bool {
	info, err := os.Stat(name)
	return strings.HasSuffix(name, "/") || err == nil && info.IsDir()
}

func createWithParents(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	return os.Create(name)
}
