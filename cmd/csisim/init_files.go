package main

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"text/template"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

//go:embed init/*.tmpl
var initFiles embed.FS

// first is the data of the files that csisim init writes.
type first struct {
	// Driver is the driver's name. Command starts the driver; it is empty for the reference driver.
	Driver  string
	Command []string
	// Module is the path of the nested Go module. Version is the required version of csisim, empty
	// if unknown. Replace is the local checkout that replaces it, empty if none does.
	Module, Version, Replace string
}

func newFirst(dir, driver, replace string, command []string) (first, error) {
	f := first{Driver: cmp.Or(driver, "mock.csi.csisim.dev"), Command: command}
	full, err := filepath.Abs(dir)
	if err != nil {
		return f, err
	}
	f.Module = modulePath(full)
	if len(command) > 0 && strings.Contains(command[0], "/") && !filepath.IsAbs(command[0]) {
		f.Command = append([]string{fromThere(full, command[0])}, command[1:]...)
	}
	build, _ := debug.ReadBuildInfo()
	switch {
	case replace != "":
		if _, err := os.Stat(filepath.Join(replace, "go.mod")); err != nil {
			return f, usage("--replace %s: there is no checkout of csisim: %w", replace, reason(err))
		}
		f.Version, f.Replace = "v0.0.0", replace
		if !filepath.IsAbs(replace) {
			f.Replace = fromThere(full, replace)
		}
	case build != nil && released().MatchString(ownVersion(build)):
		f.Version = ownVersion(build)
	}
	return f, nil
}

// released matches the versions that a module proxy serves.
var released = lazyregexp.New(`^v[0-9]+\.[0-9]+\.[0-9]+(-[a-z]+[.0-9]*)?$`)

// fromThere returns a path as seen from another directory.
func fromThere(dir, name string) string {
	full, err := filepath.Abs(name)
	if err == nil {
		name, err = filepath.Rel(dir, full)
	}
	if err != nil || filepath.IsAbs(name) {
		return full
	}
	if !strings.HasPrefix(name, "..") {
		name = "./" + name
	}
	return filepath.ToSlash(name)
}

var moduleLine = lazyregexp.New(`(?m)^module\s+"?([^\s"]+)`)

// modulePath returns the path of a module nested in the one that contains dir.
func modulePath(dir string) string {
	for above := filepath.Dir(dir); ; above = filepath.Dir(above) {
		text, err := os.ReadFile(filepath.Join(above, "go.mod"))
		if found := moduleLine().FindSubmatch(text); err == nil && found != nil {
			inside, _ := filepath.Rel(above, dir) // it is below
			return path.Join(string(found[1]), filepath.ToSlash(inside))
		}
		if above == filepath.Dir(above) {
			return path.Join("example.com", filepath.Base(dir))
		}
	}
}

// initNames returns the names of the files that are written.
func initNames() []string {
	var names []string
	entries, _ := initFiles.ReadDir("init") // it is part of the program
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".tmpl"))
	}
	return names
}

// mustBeNew makes sure that no file is overwritten.
func mustBeNew(dir string) error {
	for _, name := range initNames() {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return usage("%s is there already: nothing was written", filepath.Join(dir, name))
		}
	}
	return nil
}

func (f first) write(dir string) (written []string, err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	for _, name := range initNames() {
		full := filepath.Join(dir, name)
		if err := f.writeOne(full, name); err != nil {
			return nil, fmt.Errorf("write %s: %w", full, err)
		}
		written = append(written, full)
	}
	return written, nil
}

func (f first) writeOne(full, name string) error {
	text, err := fs.ReadFile(initFiles, path.Join("init", name+".tmpl"))
	if err != nil {
		return err
	}
	filled, err := template.New(name).Delims("[[", "]]").Funcs(template.FuncMap{"quoted": strconv.Quote}).Parse(string(text))
	if err != nil {
		return err
	}
	file, err := os.OpenFile(full, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer file.Close()
	return filled.Execute(file, f)
}

// fetch returns the command that downloads the dependencies of the module.
func (f first) fetch() string {
	if f.Version == "" {
		return "go get github.com/csisim/csisim@latest && go mod tidy"
	}
	return "go mod tidy"
}
