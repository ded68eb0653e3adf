package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/cmd/internal/report"
)

// self is how this program was called, for commands that its user can paste: csisim if it
// was found in PATH, or by go run, which removes what it has built.
func self() string {
	const name = "csisim"
	called := os.Args[0]
	if filepath.Base(called) != name || strings.Contains(called, "go-build") {
		return name
	}
	return report.Quoted(called)
}
