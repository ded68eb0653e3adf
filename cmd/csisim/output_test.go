package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// A report file appears when it is complete; until then the previous one remains, if any.
func TestAReportIsWrittenCompletelyOrNotAtAll(t *testing.T) {
	for name, test := range map[string]struct {
		before string
		fails  error
		after  string
	}{
		"a new one":             {"", nil, "all of it"},
		"in place of another":   {"of yesterday, and longer", nil, "all of it"},
		"a new one fails":       {"", errors.New("no space"), ""},
		"the other one remains": {"of yesterday", errors.New("no space"), "of yesterday"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "report.json")
			if test.before != "" {
				require.NoError(t, os.WriteFile(file, []byte(test.before), 0o600))
			}
			release, err := outputFiles{"json": file}.reserve()
			require.NoError(t, err)
			err = writeFile(file, "JSON report", func(w io.Writer) error {
				_, _ = io.WriteString(w, "all ")
				text, _ := os.ReadFile(file)
				assert.Equal(t, test.before, string(text), "in the middle")
				_, _ = io.WriteString(w, "of it")
				return test.fails
			})
			assert.ErrorIs(t, err, test.fails)
			release()
			text, err := os.ReadFile(file)
			assert.Equal(t, test.after == "", errors.Is(err, os.ErrNotExist))
			assert.Equal(t, test.after, string(text))
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			assert.LessOrEqual(t, len(entries), 1, "nothing is left beside it")
		})
	}
}

// If the directory of a report is not writable, the report is written in place.
func TestAReportThroughALink(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "report.json"), filepath.Join(dir, "link.json")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Symlink(file, link))
	require.NoError(t, writeFile(link, "JSON report", func(w io.Writer) error { _, err := io.WriteString(w, "text"); return err }))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Equal(t, "text", string(text))
	info, err := os.Lstat(link)
	require.NoError(t, err)
	assert.Equal(t, os.ModeSymlink, info.Mode().Type())
}

// An interrupt during the writing of reports ends the command, even if the reader of one report has
// stopped reading. Each of the other reports is complete or absent.
func TestAnInterruptWhileReportsAreWritten(t *testing.T) {
	bin := clitest.Build(t)
	p := newPlace(t, bin)
	const scenarios = 400 // their report exceeds the capacity of a pipe
	var files []string
	for i := range scenarios {
		name := fmt.Sprintf("s%03d.yaml", i)
		p.Write(name, clitest.Header+"steps:\n- advance: 1s\n")
		files = append(files, name)
	}
	pipe, junit := filepath.Join(p.Dir, "pipe.json"), filepath.Join(p.Dir, "report.xml")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // it does not wait for a writer
	require.NoError(t, err)
	defer reader.Close()

	r := clitest.StartCommand(t, p.Place, p.Command(append([]string{"run", "--json", pipe, "--junit", junit}, files...)...), func() bool { return true })
	_, err = reader.Read(make([]byte, 1)) // csisim writes
	require.NoError(t, err)
	r.Signal(t, syscall.SIGINT)
	assert.Equal(t, exitInterrupted, r.AwaitEnd(t, clitest.Interrupted))
	assert.Contains(t, r.Output.String(), "csisim: interrupted")
	entries, err := os.ReadDir(p.Dir)
	require.NoError(t, err)
	for _, e := range entries {
		assert.False(t, strings.Contains(e.Name(), "report.xml"), "%s is left", e.Name())
	}
}
