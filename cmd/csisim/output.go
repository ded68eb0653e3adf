package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// outputFiles maps flags to the files of their reports.
type outputFiles map[string]string

// reserve checks before the run that all files can be written. release removes the files that
// reserve created and no report filled.
func (files outputFiles) reserve() (release func(), err error) {
	var made []string
	release = func() {
		for _, name := range files { // any order: they are independent
			if target, err := filepath.EvalSymlinks(name); err == nil {
				name = target
			}
			_ = os.Remove(partOf(name)) // of an interrupted write
		}
		for _, name := range made {
			if info, err := os.Stat(name); err == nil && info.Size() == 0 {
				_ = os.Remove(name) // an empty file is no report
			}
		}
	}
	for flag, name := range files {
		if name == "" {
			continue
		}
		isNew, err := canWrite(name)
		if err != nil {
			release()
			return nil, usage("--%s %s: no report can be written there: %w", flag, name, reason(err))
		}
		if isNew {
			made = append(made, name)
		}
	}
	return release, nil
}

// canWrite opens a file for writing, and creates it if it does not exist. Only regular files are
// opened; pipes and devices are not checked.
func canWrite(name string) (isNew bool, err error) {
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return false, errors.New("it is a directory")
	case err == nil && !info.Mode().IsRegular():
		return false, nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return false, err
	}
	file, openErr := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644)
	if openErr != nil {
		return false, openErr
	}
	return errors.Is(err, os.ErrNotExist), file.Close()
}

// reason strips the operation and the path from an error, because the caller prints them itself.
func reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// writeFile writes a report to a file, if one is requested. It writes a temporary file in the same
// directory and renames it, so that an interrupt leaves a complete report or none. A file that is
// not regular is written directly.
func writeFile(name, what string, write func(io.Writer) error) (err error) {
	if name == "" {
		return nil
	}
	if err := writeWhole(name, write); err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	return nil
}

func writeWhole(name string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() {
		return fill(name, write)
	}
	part := partOf(name)
	file, err := createWithParents(part)
	if err != nil {
		return fill(name, write) // the directory is not writable
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	if err := os.Rename(part, name); err != nil { // the file is a mount point
		return errors.Join(os.Remove(part), fill(name, write))
	}
	return nil
}

// partOf returns the name of the temporary file of a report.
func partOf(name string) string {
	return filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d", filepath.Base(name), os.Getpid()))
}

func fill(name string, write func(io.Writer) error) (err error) {
	file, err := createWithParents(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file)
}
