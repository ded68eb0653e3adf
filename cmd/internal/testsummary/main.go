// Command testsummary runs go test with its arguments, prints a line for each package and the
// output of failed tests, and finally the number of skipped tests for each reason.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// event is a line of go test -json, or of the build before it. [cmd/test2json]
type event struct {
	Action, Package, ImportPath, Test, Output string
	Elapsed                                   float64
}

func main() {
	err := run(os.Args[1:])
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsummary:", err)
		os.Exit(1)
	}
}

// run runs go test with the arguments. Its error is the error of go test.
func run(args []string) error {
	tests := exec.Command("go", append([]string{"test", "-json"}, args...)...)
	tests.Stderr = os.Stderr
	results, err := tests.StdoutPipe()
	if err != nil {
		return err
	}
	if err := tests.Start(); err != nil {
		return err
	}
	s := newSummary(os.Stdout)
	if err := s.read(results); err != nil {
		return fmt.Errorf("reading the results of the tests: %w", err)
	}
	s.finish()
	return tests.Wait()
}

// read reads the input to its end; lines that are not JSON are printed unchanged.
func (s *summary) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				s.add(e)
			} else {
				s.out.Write(line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
