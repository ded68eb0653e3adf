// Package enginetest replaces the command of a container engine.
package enginetest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Docker puts a replacement for docker into PATH as the only program. It records its calls. It
// lists clusters with these names, and lists a node of a cluster after an order to run the node. An
// order with the prefix fails returns an error.
func Docker(t *testing.T, fails string, clusters ...string) (orders func() []string) {
	t.Helper()
	dir := t.TempDir()
	log := filepath.Join(dir, "orders")
	script := `#!/bin/sh
echo "$*" >> ` + log + `
case "$CSISIM_TEST_HANGS:$*" in
:*) ;;
"$CSISIM_TEST_HANGS:$CSISIM_TEST_HANGS"*) while :; do while read -r order; do case "$order" in "rm "*) exit 1 ;; esac; done <` + log + `; done ;;
esac
case "$*" in
"` + fails + `"*) echo "stand-in: $1 refused" >&2; exit 1 ;;
"info --format {{.OSType}}") echo linux ;;
info*) echo '{"CgroupDriver":"systemd","CgroupVersion":"2","MemoryLimit":true,"PidsLimit":true,"CPUShares":true,"SecurityOptions":[]}' ;;
"inspect --type=image "* | "image inspect "*) case "$CSISIM_TEST_WITHOUT" in *"$3"*) exit 1 ;; esac ;;
"ps -a --filter label=io.x-k8s.kind.cluster --format"*) printf '%s\n' ` + strings.Join(clusters, " ") + ` ;;
"ps -a --filter label=io.x-k8s.kind.cluster="*) while read -r order; do case "$order" in "run "*) echo csisim-worker; break ;; esac; done <` + log + ` ;;
"inspect --format "*io.x-k8s.kind.role*) echo worker ;;
"network ls"*) echo 0123456789ab ;;
"network inspect"*) echo '[{"Id":"0123456789ab","Containers":{}}]' ;;
esac
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "docker"), []byte(script), 0o755))
	t.Setenv("PATH", dir)
	t.Setenv("KIND_EXPERIMENTAL_PROVIDER", "")
	return func() []string {
		text, err := os.ReadFile(log)
		if os.IsNotExist(err) {
			return nil // none yet
		}
		require.NoError(t, err)
		return strings.Split(strings.TrimSpace(string(text)), "\n")
	}
}

// Hangs makes an order with this prefix hang until a node is removed, and then fail.
func Hangs(t *testing.T, order string) {
	t.Helper()
	t.Setenv("CSISIM_TEST_HANGS", order)
}

// Without removes an image from the engine.
func Without(t *testing.T, image string) {
	t.Helper()
	t.Setenv("CSISIM_TEST_WITHOUT", image)
}
