package main

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/input/strict"
)

var yamlExtensions = []string{"yaml", "yml"}

// completeScenarios offers YAML files and directories to the shell.
func completeScenarios(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return yamlExtensions, cobra.ShellCompDirectiveFilterFileExt
}

// completeNames offers the names of the given scenarios.
func completeNames(_ *cobra.Command, args []string, _ string) (words []string, _ cobra.ShellCompDirective) {
	for _, s := range readable(args) {
		words = append(words, s.Name+"\t"+s.Description)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// completeUntil completes the steps of the given scenarios, by their names or numbers.
func completeUntil(_ *cobra.Command, args []string, _ string) (words []string, _ cobra.ShellCompDirective) {
	for _, s := range readable(args) {
		for i, step := range s.Steps {
			words = append(words, cmp.Or(step.Name, strconv.Itoa(i+1))+"\t"+step.Kind)
		}
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

// readable returns the scenarios of arguments that have no mistakes.
func readable(args []string) (all []*scenario.Scenario) {
	files, err := scenarioFiles(args)
	if err != nil {
		return nil
	}
	for _, file := range files {
		if s, err := scenario.Load(file); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// scenarioFiles returns the files that arguments name: a file, a directory with all scenarios in
// and below it, or a pattern. Each file occurs once, in the given order.
func scenarioFiles(args []string) ([]string, error) {
	var files []string
	for _, arg := range args {
		found, err := filesOf(arg)
		if err != nil {
			return nil, err
		}
		for _, file := range found {
			if !slices.Contains(files, file) {
				files = append(files, file)
			}
		}
	}
	return files, nil
}

func filesOf(arg string) ([]string, error) {
	info, err := os.Stat(arg)
	switch {
	case err == nil && info.IsDir():
		return filesBelow(arg)
	case err == nil:
		return []string{filepath.Clean(arg)}, nil
	case !errors.Is(err, fs.ErrNotExist):
		return nil, usage("%w", err)
	}
	matches, err := filepath.Glob(arg)
	if err != nil {
		return nil, usage("pattern %s: %w", arg, err)
	}
	if len(matches) == 0 {
		return nil, usage("%s: no such file or directory", arg)
	}
	var files []string
	for _, match := range matches {
		found, err := filesOf(match)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	return files, nil
}

func filesBelow(dir string) ([]string, error) {
	// It distinguishes scenarios from manifests in the same directory.
	scenarioKind := regexp.MustCompile(`(?m)^kind:\s*["']?Scenario["']?\s*(#.*)?$`)
	var files []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !slices.Contains(yamlExtensions, strings.TrimPrefix(filepath.Ext(path), ".")) {
			return err
		}
		text, err := strict.ReadFile(path)
		if err != nil {
			return err
		}
		if scenarioKind.Match(text) {
			files = append(files, path)
		}
		return nil
	})
	if err != nil {
		return nil, usage("%w", err)
	}
	if len(files) == 0 {
		return nil, usage("%s: there is no scenario in this directory", dir)
	}
	return files, nil
}
