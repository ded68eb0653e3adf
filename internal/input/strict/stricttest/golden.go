// Package stricttest runs tables of inputs. A readable file contains the inputs and the expected
// messages.
package stricttest

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the results of the tests to their golden files")

const (
	caseMark   = "=== "
	resultMark = "---------- gives"
)

// Golden runs every case of the golden file. A case is a line with === and its name, the input, a
// line of dashes with "gives", and the expected result. With -update it writes the results.
func Golden(t *testing.T, file string, result func(input string) string) {
	t.Helper()
	data, err := os.ReadFile(file)
	require.NoError(t, err)
	head, cases, _ := strings.Cut("\n"+string(data), "\n"+caseMark)
	written := strings.TrimPrefix(head, "\n")
	for i, text := range strings.Split(cases, "\n"+caseMark) {
		name, body, _ := strings.Cut(text, "\n")
		input, want, _ := strings.Cut(body, resultMark)
		got := result(input)
		if i > 0 || written != "" {
			written += "\n"
		}
		written += caseMark + name + "\n" + input + resultMark + "\n" + got + "\n"
		t.Run(name, func(t *testing.T) {
			if !*update {
				require.Equal(t, strings.TrimSpace(want), strings.TrimSpace(got))
			}
		})
	}
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(written), 0o644))
	}
}
