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

// writeFile writes a report to a file, if one is wanted.
func writeFile(name, what string, write func(io.Writer) error) (err error) {
	if name == "" {
		return nil
	}
	file, err := createWithParents(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", what, err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	return write(file)
}
