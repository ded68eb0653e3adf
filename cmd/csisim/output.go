package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// outputFiles are files that reports will be written to, by the flags that name them.
type outputFiles map[string]string

// reserve finds out before anything runs that all of them can be written. What it makes for
// that is taken away again by release, unless a report has been written to it.
func (files outputFiles) reserve() (release func(), err error) {
	var made []string
	release = func() {
		for _, name := range files { // any order: they are independent
			if target, err := filepath.EvalSymlinks(name); err == nil {
				name = target
			}
			_ = os.Remove(partOf(name)) // of an end in the middle
		}
		for _, name := range made {
			if info, err := os.Stat(name); err == nil && info.Size() == 0 {
				_ = os.Remove(name) // an empty report is none
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

// canWrite opens a file as a report will, and makes it if it is not there. What is no file
// takes what it is given.
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

// reason is an error without the operation and the path, which its reader knows.
func reason(err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// writeFile writes a report to a file, if one is wanted: beside it, and puts it there when it is whole, so
// that an interrupt leaves the whole of it or none. What is no regular file is written as it is.
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
		return fill(name, write) // nothing can be put beside it
	}
	if err := errors.Join(write(file), file.Close()); err != nil {
		return errors.Join(err, os.Remove(part))
	}
	if err := os.Rename(part, name); err != nil { // it is a mount
		return errors.Join(os.Remove(part), fill(name, write))
	}
	return nil
}

// partOf is where a report is written until it is whole.
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
