package strict_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/excerpt"
)

func TestFilesWithoutAnEndAreRejected(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	require.NoError(t, os.WriteFile(in("plain.yaml"), []byte("a: 1\n"), 0o600))
	require.NoError(t, os.WriteFile(in("huge.yaml"), nil, 0o600))
	require.NoError(t, os.Truncate(in("huge.yaml"), 1<<40))
	require.NoError(t, syscall.Mkfifo(in("unwritten"), 0o600))
	require.NoError(t, syscall.Mkfifo(in("written"), 0o600))
	require.NoError(t, syscall.Mkfifo(in("endless"), 0o600))
	written := make(chan error, 2)
	write := func(name, text string, times int) {
		pipe, err := os.OpenFile(in(name), os.O_WRONLY, 0)
		for ; err == nil && times > 0; times-- {
			_, err = pipe.WriteString(text)
		}
		written <- pipe.Close()
	}
	go write("written", "a: 1\n", 1)
	go write("endless", strings.Repeat("- a\n", 1024), 1<<20)
	for name, want := range map[string]string{
		in("plain.yaml"): "",
		in("written"):    "",
		in("huge.yaml"):  "it has more than 8 MiB, more than csisim reads of one",
		in("endless"):    "it has more than 8 MiB, more than csisim reads of one",
		in("unwritten"):  "it is a pipe into which nothing was written for 2s",
		"/dev/zero":      "it is no file but a device or a socket; give a YAML file",
		dir:              "it is a directory; give a YAML file",
	} {
		text, err := strict.ReadFile(name)
		if want == "" {
			require.NoError(t, err)
			assert.Equal(t, "a: 1\n", string(text))
		} else {
			assert.EqualError(t, err, "read "+name+": "+want)
		}
	}
	for range 2 {
		assert.NoError(t, <-written)
	}
}

// A list of a million wrong values is reported in a hundred lines, and a list of too many values in
// one line.
func TestAListOfAMillionWrongValuesIsReportedBriefly(t *testing.T) {
	var into struct {
		Drivers []struct{} `json:"drivers"`
	}
	_, problems := strict.Decode("x.yaml", []byte("drivers:\n"+strings.Repeat("- 1\n", 200_000)), &into)
	require.Len(t, problems, 101)
	assert.EqualError(t, problems[99], "x.yaml:101:3: drivers[99]: found number 1, want an empty map")
	assert.EqualError(t, problems[100], "x.yaml:102:3: found more mistakes from here on, want those above corrected first")

	_, problems = strict.Decode("x.yaml", []byte("drivers:\n"+strings.Repeat("- 1\n", 1_000_000)), &into)
	assert.EqualError(t, problems, "x.yaml:1:1: found very many values, with aliases followed, want at most 250000 values")
}

// A name of 10 KB is reported by its beginning and end, without a suggestion.
func TestALongNameIsReportedByItsEnds(t *testing.T) {
	long := strings.Repeat("a", 10<<10)
	var into struct {
		Driver string `json:"driver"`
	}
	_, problems := strict.Decode("x.yaml", []byte("? "+long+"Z\n: 1\ndriver: [1]\n"), &into)
	require.Len(t, problems, 2)
	for _, p := range problems {
		assert.Less(t, len(p.Error()), 500)
	}
	assert.Contains(t, problems[0].Path, "…")
	assert.True(t, strings.HasSuffix(problems[0].Path, "Z"))
	assert.Equal(t, "äöü…ß", excerpt.Of("äöüäöüäöüß", 5))
}
