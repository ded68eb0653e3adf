package main

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/csisim/csisim/cmd/internal/report"
)

// self returns the name under which this program was called, for commands that its user can paste.
// The name is csisim if the program was found in PATH, or if go run built it, because go run
// deletes it.
func self() string {
	const name = "csisim"
	called := os.Args[0]
	if filepath.Base(called) != name || strings.Contains(called, "go-build") {
		return name
	}
	return report.Quoted(called)
}
