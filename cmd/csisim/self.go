package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/cmd/internal/report"
)

// self returns the name under which this program was called, for commands that its user can paste.
// It is csisim if it was found in PATH, or built by go run, which removes the program.
func self() string {
	const name = "csisim"
	called := os.Args[0]
	if filepath.Base(called) != name || strings.Contains(called, "go-build") {
		return name
	}
	return report.Quoted(called)
}
