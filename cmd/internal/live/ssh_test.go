package live

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/ssh"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// A node's administrator has access to the node's mounts and processes, and stops its kubelet while
// containers continue to run.
func TestNodesAreReachedBySSH(t *testing.T) {
	c := startPrograms(t)
	key, err := ssh.ParsePrivateKey([]byte(clitest.RunIn(t, c.environment(), "get", "ssh-key").Stdout))
	require.NoError(t, err)
	address := strings.TrimSpace(clitest.RunIn(t, c.environment(), "get", "ssh-address").Stdout)
	client, err := ssh.Dial("tcp", address, &ssh.ClientConfig{User: "node-a", Auth: []ssh.AuthMethod{ssh.PublicKeys(key)}, HostKeyCallback: ssh.InsecureIgnoreHostKey()})
	require.NoError(t, err)
	defer client.Close()
	output := func(command string) string {
		session, err := client.NewSession()
		require.NoError(t, err)
		defer session.Close()
		text, err := session.CombinedOutput(command)
		require.NoError(t, err, "%s: %s", command, text)
		return string(text)
	}

	web := c.make("metadata: {name: web}\nspec:\n  containers: [{name: main, image: registry.local/shell, args: [-c, echo one > /data/file; exec sleep 1000], volumeMounts: [{name: data, mountPath: /data}]}]\n  volumes: [{name: data, emptyDir: {}}]\n", inPhase(corev1.PodRunning))
	assert.Contains(t, output("cat /proc/self/mountinfo"), " /var/lib/kubelet ")
	assert.Equal(t, output("readlink /proc/1/ns/net"), output("readlink /proc/self/ns/net"), "the shell is in the node's network")
	assert.Equal(t, "one\n", output("until grep -s one /var/lib/kubelet/pods/"+string(web.UID)+"/files/data/file; do sleep 0.05; done"))

	output("mkdir /mnt/disk && mount -t tmpfs disk /mnt/disk && echo mine >/mnt/disk/file")
	assert.Equal(t, "mine\n", output("cat /mnt/disk/file"), "a mount anywhere outlasts its session")
	c.make("metadata: {name: reader}\nspec:\n  restartPolicy: Never\n  containers: [{name: main, image: registry.local/shell, args: [-c, grep mine /disk/file], volumeMounts: [{name: disk, mountPath: /disk}]}]\n  volumes: [{name: disk, hostPath: {path: /mnt/disk}}]\n", inPhase(corev1.PodSucceeded))

	output("systemctl stop kubelet")
	assert.Equal(t, "inactive\n", output("systemctl show kubelet --property ActiveState --value"))
	assert.Contains(t, output("cat /proc/[0-9]*/cmdline | tr '\\0' ' '"), "sleep 1000")
	output("systemctl start kubelet")
	c.make("metadata: {name: later}\nspec: {containers: [{name: main, image: registry.local/shell, args: [-c, exec sleep 1000]}]}\n", inPhase(corev1.PodRunning))
	c.down()
}
