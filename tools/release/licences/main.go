// Command licences prints licences and notices for the archives of a release. They belong to the
// modules that programs link, to Go, and to the bundled part of the viewer.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// names are the names of files with a licence or a notice.
var names = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice)([.-].*)?$`)

func main() {
	if err := run(os.Stdout, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "licences:", err)
		os.Exit(1)
	}
}

func run(w io.Writer, programs []string) error {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return fmt.Errorf("go env GOROOT: %w", err)
	}
	if err := write(w, "Go", filepath.Join(strings.TrimSpace(string(root)), "LICENSE")); err != nil {
		return err
	}
	if err := write(w, "Preact, in pages of the viewer", "internal/view/web/dist/preact.LICENSE"); err != nil {
		return err
	}
	modules, err := linked(programs)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(modules)) {
		if err := modules[path].write(w); err != nil {
			return err
		}
	}
	return nil
}

func write(w io.Writer, name, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("licence of %s: %w", name, err)
	}
	_, err = fmt.Fprintf(w, "==== %s ====\n\n%s\n\n", name, bytes.TrimSpace(text))
	return err
}

// module is a module and the folders of its linked packages.
type module struct {
	Path, Version, Dir string
	Main               bool
	packages           []string
}

// linked returns the modules of all packages that programs link on Linux or macOS, by path.
func linked(programs []string) (map[string]*module, error) {
	all := map[string]*module{}
	for _, system := range []string{"linux", "darwin"} {
		list := exec.Command("go", append([]string{"list", "-e", "-deps", "-json=Dir,Module"}, programs...)...)
		list.Env = append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w", system, err)
		}
		if err := collect(all, out); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func collect(all map[string]*module, listed []byte) error {
	for d := json.NewDecoder(bytes.NewReader(listed)); ; {
		var p struct {
			Dir    string
			Module *module
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("output of go list: %w", err)
		}
		if p.Module == nil || p.Module.Main {
			continue
		}
		if all[p.Module.Path] == nil {
			all[p.Module.Path] = p.Module
		}
		m := all[p.Module.Path]
		m.packages = append(m.packages, p.Dir)
	}
}

// write prints the licences of a module. It searches the folders from each linked package up to the
// top of the module.
func (m *module) write(w io.Writer) error {
	folders := map[string]bool{m.Dir: true}
	for _, dir := range m.packages {
		for ; len(dir) > len(m.Dir); dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	found := false
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, e := range entries {
			if e.IsDir() || !names.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
				continue
			}
			found = true
			file := filepath.Join(folder, e.Name())
			name := fmt.Sprintf("%s %s: %s", m.Path, m.Version, strings.TrimPrefix(file, m.Dir+"/"))
			if err := write(w, name, file); err != nil {
				return err
			}
		}
	}
	if !found {
		return fmt.Errorf("module %s has no licence in %s", m.Path, m.Dir)
	}
	return nil
}
