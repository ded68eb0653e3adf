package explore

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/lazyregexp"
)

var (
	// manifestName matches a file of manifests that a scenario applies.
	manifestName = lazyregexp.New(`\bfile: *["']?([^\s,"'\]}]+)`)
	// programName matches a program or a directory that a scenario names relative to its own
	// directory.
	programName = lazyregexp.New(`(?m)(?:^|[\s\["'])(\.{1,2}/[^\s,"'\]}]+)`)
)

// bundled returns the text of a scenario that works from any directory. It also returns the
// manifests that the text names, by their new names. Programs and directories are named by their
// absolute paths.
func bundled(text []byte, dir string) (string, map[string]string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", nil, err
	}
	files := map[string]string{}
	moved := renamed(manifestName(), string(text), func(name string) string {
		if filepath.IsAbs(name) {
			return name
		}
		content, err := strict.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return name // the scenario is rejected, or the words only look like a file
		}
		name = bundledName(files, name, string(content))
		files[name] = string(content)
		return name
	})
	if len(files) == 0 {
		files = nil
	}
	return renamed(programName(), moved, func(name string) string { return filepath.Join(dir, name) }), files, nil
}

// renamed replaces each name that a pattern captures.
func renamed(pattern *regexp.Regexp, text string, rename func(string) string) string {
	return pattern.ReplaceAllStringFunc(text, func(found string) string {
		name := pattern.FindStringSubmatch(found)[1]
		return strings.TrimSuffix(found, name) + rename(name)
	})
}

// bundledName is the name of a manifest among the files. It does not point outside their directory.
func bundledName(files map[string]string, name, content string) string {
	for strings.HasPrefix(path.Clean(name), "../") {
		name = strings.TrimPrefix(path.Clean(name), "../")
	}
	base := path.Clean(name)
	name = base
	for i := 2; ; i++ {
		if other, taken := files[name]; !taken || other == content {
			return name
		}
		name = fmt.Sprintf("%d-%s", i, base)
	}
}

// Unpack writes the scenario of a replay and its manifests into a directory, and returns the path
// of the scenario.
func (f *File) Unpack(dir string) (string, error) {
	name := filepath.Join(dir, path.Base(f.Scenario))
	if err := os.WriteFile(name, []byte(f.Text), 0o600); err != nil {
		return "", err
	}
	for file, text := range f.Files {
		if !filepath.IsLocal(file) {
			return "", fmt.Errorf("files: %q leads out of the directory of the scenario", file)
		}
		at := filepath.Join(dir, filepath.FromSlash(file))
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return "", err
		}
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return name, nil
}
