package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestALongTextIsShortened(t *testing.T) {
	assert.Equal(t, "short", Shortened("short"))
	long := Shortened(strings.Repeat("ä", 1<<20))
	assert.Less(t, len(long), longestText+30)
	assert.True(t, strings.HasSuffix(long, "ä… (2097152 bytes)"))
}

// A line of a trace, and everything made from it, is short even if a driver returns megabytes.
func TestALineShortensLongAnswers(t *testing.T) {
	response := &csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeContext: map[string]string{"blob": strings.Repeat("x", 3<<20)}}}
	for i := range 10_000 {
		response.Volume.VolumeContext[fmt.Sprintf("key-%05d", i)] = "value"
	}
	event := &Event{
		Site: &Site{Kind: Call, Method: "Controller/CreateVolume"}, Exchange: &Exchange{Response: response}, Diff: &Diff{},
	}
	line, err := event.Line()
	require.NoError(t, err)
	text, err := line.Text()
	require.NoError(t, err)
	assert.Less(t, len(text), 64<<10)
	assert.Contains(t, string(text), `"…":"9001 more"`)
	assert.Contains(t, string(text), "… (3145728 bytes)")
}
