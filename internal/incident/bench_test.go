package incident_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident"
)

// kinds are lines of a node's journal. Most of them are irrelevant, and a few are facts.
var kinds = []string{
	`kubelet[1234]: I%[2]s    1234 kubelet.go:2430] "SyncLoop (PLEG): event for pod" pod="ns/web-%[3]d" event={"ID":"8d2c-%[3]d","Type":"ContainerStarted","Data":"abcdef%[3]d"}`,
	`kubelet[1234]: I%[2]s    1234 prober.go:107] "Probe failed" probeType="Readiness" pod="default/db-%[3]d" podUID="u-%[3]d" containerName="main" probeResult="failure" output="HTTP probe failed with statuscode: 503"`,
	`containerd[99]: time="2026-11-28T12:00:00.000000000Z" level=info msg="CreateContainer within sandbox" at=%[2]s sandbox=abc%[3]d`,
	`kubelet[1234]: I%[2]s    1234 operation_generator.go:558] "MountVolume.MountDevice succeeded for volume \"pvc-%[3]d\" (UniqueName: \"kubernetes.io/csi/mock.csi^vol-%[3]d\") pod \"web-%[3]d\" (UID: \"8d2c-%[3]d\") device mount path \"/var/lib/kubelet/plugins/kubernetes.io/csi/mock.csi/abc/globalmount\"" pod="default/web-%[3]d"`,
}

// journal writes a journal of at least a size.
func journal(b *testing.B, size int) string {
	b.Helper()
	var text strings.Builder
	at := time.Date(2026, 11, 28, 1, 0, 0, 0, time.UTC)
	for n := 0; text.Len() < size; n++ {
		at = at.Add(7 * time.Millisecond)
		fmt.Fprintf(&text, "%[1]s node-a "+kinds[n%len(kinds)]+"\n", at.Format("Jan _2 15:04:05"), at.Format("0102 15:04:05.000000"), n%5000)
	}
	file := filepath.Join(b.TempDir(), "journal")
	require.NoError(b, os.WriteFile(file, []byte(text.String()), 0o600))
	return file
}

// BenchmarkImport imports the journal of a node. MB/s measures the journal.
func BenchmarkImport(b *testing.B) {
	const size = 32 << 20
	file := journal(b, size)
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		_, err := incident.Run(b.Context(), incident.Options{Paths: []string{file}, Until: until}, io.Discard)
		require.NoError(b, err)
	}
}
