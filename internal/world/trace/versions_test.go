package trace_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/trace"
)

// The versions are in a line that no reader mistakes for an event.
func TestTheVersionsOfARecordingAreNoEvent(t *testing.T) {
	var out bytes.Buffer
	_, err := trace.Versions{Csisim: "v0.9.0", Kubernetes: "1.34"}.WriteTo(&out)
	require.NoError(t, err)
	assert.Equal(t, `{"t":0,"k":"versions","obj":{"csisim":"v0.9.0","kubernetes":"1.34"}}`+"\n", out.String())
	lines, err := trace.Read(&out)
	require.NoError(t, err)
	require.Len(t, lines, 1)
	assert.True(t, lines[0].K.IsState())
}

func TestVersionsInWords(t *testing.T) {
	assert.Equal(t, "csisim v0.9.0, Kubernetes 1.34", trace.Versions{Csisim: "v0.9.0", Kubernetes: "1.34"}.String())
	assert.Equal(t, "csisim devel", trace.Versions{Csisim: "devel"}.String())
	assert.Empty(t, trace.Versions{}.String())
}
