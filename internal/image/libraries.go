package image

import (
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// directories are the directories in which the loader looks for libraries.
var directories = []string{"/lib/*-linux-gnu", "/usr/lib/*-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib"}

// Libraries returns the files that a program loads, its loader first. It returns none for a
// statically linked program, or for a file that is not ELF.
func Libraries(program string) ([]string, error) {
	loader, err := loaderOf(program)
	if err != nil || loader == "" {
		return nil, err
	}
	found := []string{loader}
	for open := []string{program}; len(open) > 0; open = open[1:] {
		file, err := elf.Open(open[0])
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", open[0], err)
		}
		needed, err := file.ImportedLibraries()
		file.Close()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", open[0], err)
		}
		for _, name := range needed {
			at := locate(name)
			if at == "" {
				return nil, fmt.Errorf("%s needs the library %s, which is not on this machine: link it statically (CGO_ENABLED=0)", program, name)
			}
			if !slices.Contains(found, at) {
				found, open = append(found, at), append(open, at)
			}
		}
	}
	return found, nil
}

// loaderOf returns the interpreter of an ELF program.
func loaderOf(program string) (string, error) {
	file, err := elf.Open(program)
	if err != nil {
		if _, missing := os.Stat(program); missing != nil {
			return "", missing
		}
		return "", nil // a script, say
	}
	defer file.Close()
	for _, p := range file.Progs {
		if p.Type == elf.PT_INTERP {
			name := make([]byte, p.Filesz)
			if _, err := p.ReadAt(name, 0); err != nil {
				return "", fmt.Errorf("read %s: %w", program, err)
			}
			return strings.TrimRight(string(name), "\x00"), nil
		}
	}
	return "", nil
}

func locate(name string) string {
	for _, pattern := range directories {
		found, _ := filepath.Glob(filepath.Join(pattern, name)) // the patterns are well-formed
		if len(found) > 0 {
			return found[0]
		}
	}
	return ""
}
