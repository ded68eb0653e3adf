package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/explore"
)

func TestASearchReportsUnrepeatableRuns(t *testing.T) {
	var out strings.Builder
	writeSample(&out, explore.Sample{Runs: 3})
	assert.Empty(t, out.String())
	writeSample(&out, explore.Sample{Runs: 3, Differing: 2, In: "pct, seed 64", First: errors.New("the driver behaved differently in two runs\n  first run:  a\n  second run: b")})
	assert.Equal(t, "  2 of 3 runs made twice differed, such as pct, seed 64:\n    the driver behaved differently in two runs\n      first run:  a\n      second run: b\n", out.String())
}
